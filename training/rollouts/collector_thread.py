"""The seam between the trainer and the collector: the trainer works in the main thread, the collector in a thread of its own.

The collector's thread has its own event loop. It opens there whatever belongs to a loop (clients, the collector itself), and
nothing of it is touched from outside: each call of the trainer is a coroutine that is handed to the loop and waited for.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

from training.rollouts.collect import Collector
from training.rollouts.collector_state import CollectorState
from training.rollouts.rollout_work import RolloutGroup

M = TypeVar("M")
R = TypeVar("R")
OpenCollector: TypeAlias = Callable[[], AbstractAsyncContextManager[Collector[M]]]


class _Running(NamedTuple, Generic[M]):
    """A collector that collects, its loop, and the event that ends it."""

    collector: Collector[M]
    loop: asyncio.AbstractEventLoop
    closing: asyncio.Event


class CollectorThread(Generic[M]):
    """A collector for a trainer that does not know asyncio. It works from `__enter__` to `__exit__`.

    `open_collector` is entered in the thread and yields a collector that has been entered. Its errors are raised by `__enter__`.
    """

    def __init__(self, open_collector: OpenCollector[M]) -> None:
        self._open_collector = open_collector
        self._opened: Future[_Running[M]] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="collector", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._opened.result()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        running = self._opened.result()
        running.loop.call_soon_threadsafe(running.closing.set)
        self._thread.join()

    def next_batch(self, groups: int) -> tuple[RolloutGroup[M], ...]:
        """Block until this many groups are there; see `Collector.next_batch`."""
        return self._wait_for(self._opened.result().collector.next_batch(groups))

    def set_policy_version(self, version: int) -> None:
        """Say that the sampler has this version. Call it after the sampler got the weights, never before."""
        self._wait_for(self._set_policy_version(version))

    def read_state(self) -> CollectorState:
        """Return the state for a checkpoint. Between a batch and the next, it says that the batch is done."""
        return self._wait_for(self._read_state())

    def _wait_for(self, coroutine: Coroutine[Any, Any, R]) -> R:
        return asyncio.run_coroutine_threadsafe(coroutine, self._opened.result().loop).result()

    async def _set_policy_version(self, version: int) -> None:
        self._opened.result().collector.set_policy_version(version)

    async def _read_state(self) -> CollectorState:
        return self._opened.result().collector.state

    async def _serve(self) -> None:
        try:
            async with self._open_collector() as collector:
                closing = asyncio.Event()
                self._opened.set_result(_Running(collector, asyncio.get_running_loop(), closing))
                await closing.wait()
        except Exception as error:
            if self._opened.done():
                raise
            self._opened.set_exception(error)
