"""The linear concurrent pipeline: a system over a data set, a window of samples at a time (QSR appendix F).

The data set is read in micro-batches. While fewer than C samples are under way, the next one begins. Each result goes to a
callback as soon as its sample ends, and the window slides. This takes about 1/C of the time that the samples take one by one.

Here the work runs in this process, with asyncio. `FleetPipeline` (`workflows/durable/fleet_pipeline.py`) gives questions to the
workers of a deployment, and survives the death of any part.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Generic, TypeVar

S = TypeVar("S")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Window:
    """The size of the window: the most samples under way at once (C), and the samples read at once (S_micro).

    `apart` is the time between the starts of the first C samples in one process. Samples that start at the same moment stay in
    step, because a model takes equally long for each: then all need this process at the same time, and between steps it idles.
    """

    at_once: int
    micro_batch: int = 8
    apart: timedelta = timedelta(milliseconds=2)

    def __post_init__(self) -> None:
        if self.at_once < 1 or self.micro_batch < 1:
            raise ValueError("a window and its micro-batches hold one sample at least")


async def run_pipeline(
    samples: Iterable[S], work: Callable[[S], Awaitable[R]], done: Callable[[S, R], None], window: Window
) -> int:
    """Work every sample and call `done` with each result as soon as its sample ends. Return the number of results.

    A sample whose own work is cancelled has no result; the others go on. `work` decides what the result of a failed sample is.
    When `work` raises, no further sample begins; those under way end and are handed over, because they are paid for. At most
    `at_once` plus a micro-batch of samples are held in memory.

    Raises:
        Exception: the first that `work`, `done` or the data set raised.
    """
    return await _SlidingWindow(work, done, window).drain(_read_batches(samples, window.micro_batch))


class _SlidingWindow(Generic[S, R]):
    """The window: the samples under way. Each result is handed over by the task that ends, however full the window is."""

    def __init__(self, work: Callable[[S], Awaitable[R]], done: Callable[[S, R], None], window: Window) -> None:
        self._work = work
        self._done = done
        self._at_once = window.at_once
        self._apart_s = window.apart.total_seconds()
        self._under_way: dict[asyncio.Future[R], S] = {}
        self._ended = asyncio.Event()
        self._results = 0
        self._failure: Exception | None = None

    async def drain(self, samples: Iterator[S]) -> int:
        """Send all samples through the window and return how many results there were."""
        try:
            await self._begin_all(samples)
            await self._wait_until_left(0)
        except asyncio.CancelledError:
            await self._cancel_all()
            raise
        if self._failure is not None:
            raise self._failure
        return self._results

    async def _begin_all(self, samples: Iterator[S]) -> None:
        begun = 0
        try:
            for sample in samples:
                self._begin_sample(sample)
                begun += 1
                if self._apart_s and begun < self._at_once:
                    await asyncio.sleep(self._apart_s)
                await self._wait_until_left(self._at_once - 1)
                if self._failure is not None:
                    break
        except Exception as error:  # noqa: BLE001  (the data set's; raised by `drain` once what is under way has ended)
            self._failure = error

    def _begin_sample(self, sample: S) -> None:
        task = asyncio.ensure_future(self._work(sample))
        self._under_way[task] = sample
        task.add_done_callback(self._hand_over)

    def _hand_over(self, task: asyncio.Future[R]) -> None:
        sample = self._under_way.pop(task)
        self._ended.set()
        if task.cancelled():
            return
        try:
            self._done(sample, task.result())
            self._results += 1
        except Exception as error:  # noqa: BLE001  (raised by `drain`, as above)
            self._failure = self._failure or error

    async def _wait_until_left(self, left: int) -> None:
        """Wait until no more than `left` are under way."""
        while len(self._under_way) > left:
            self._ended.clear()
            await self._ended.wait()

    async def _cancel_all(self) -> None:
        tasks = list(self._under_way)
        for task in tasks:
            task.remove_done_callback(self._hand_over)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _read_batches(samples: Iterable[S], size: int) -> Iterator[S]:
    """Yield the samples, reading one micro-batch at a time."""
    source = iter(samples)
    while batch := list(islice(source, size)):
        yield from batch
