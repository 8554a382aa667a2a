"""The linear concurrent pipeline: a system over a data set, a window of samples at a time (QSR appendix F).

The data set is read in micro-batches. As long as fewer than C samples are under way the next one begins; what ends is handed over
by a callback at once, and the window slides. Against one after the other that takes about |D|/C as long.

`Pipeline` is what evaluation, rollouts and retraining stand on. `InProcess` is the one with asyncio; `FleetPipeline`
(`workflows/durable/fleet_pipeline.py`) has the workers of a deployment do the work, and survives the death of any of its parts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Generic, Protocol, TypeVar

S = TypeVar("S")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Window:
    """How many samples are under way at most (C), how many are read of the data set at once (S_micro).

    `apart` lies between the beginnings of the first C in one process. Begun in one instant they stay in step, because a model
    takes as long for one as for the other: at every step all want this process at once, and between the steps nobody does.
    """

    at_once: int
    micro_batch: int = 8
    apart: timedelta = timedelta(milliseconds=2)

    def __post_init__(self) -> None:
        if self.at_once < 1 or self.micro_batch < 1:
            raise ValueError("a window and its micro-batches hold one sample at least")


class Pipeline(Protocol[S, R_co]):
    """Whatever works the samples of a data set, so many at once, wherever it does so."""

    async def run(self, samples: Iterable[S], done: Callable[[S, R_co], None]) -> int:
        """Work every sample; `done` hears of each as it ends, in the order of their ends. How many there were.

        A sample that fails has a result that says so. Run again over the same samples after a kill, a durable pipeline tells
        all results again, those of the first time as they were.

        Raises:
            Exception: what `done` or the data set raised.
        """
        ...


@dataclass(frozen=True, slots=True)
class InProcess(Generic[S, R]):
    """A `Pipeline` of asyncio tasks: `work` makes the result of one sample."""

    work: Callable[[S], Awaitable[R]]
    window: Window

    async def run(self, samples: Iterable[S], done: Callable[[S, R], None]) -> int:
        """See `Pipeline.run`; also raises what `work` raises."""
        return await pipelined(samples, self.work, done, self.window)


async def pipelined(samples: Iterable[S], work: Callable[[S], Awaitable[R]], done: Callable[[S, R], None], window: Window) -> int:
    """Work every sample; `done` hears of each as it ends, in the order of their ends. How many there were.

    What `work` makes of a sample that fails is its own affair. When it raises, no further sample begins, those under way come to
    their end and are handed over, since they are paid for. At most `at_once` plus a micro-batch of samples are held in memory.

    Raises:
        Exception: the first that `work`, `done` or the data set raised.
    """
    return await _Line(work, done, window).drain(_read(samples, window.micro_batch))


class _Line(Generic[S, R]):
    """The window: what is under way, and what has ended but was not handed over yet."""

    def __init__(self, work: Callable[[S], Awaitable[R]], done: Callable[[S, R], None], window: Window) -> None:
        self._work = work
        self._done = done
        self._at_once = window.at_once
        self._apart_s = window.apart.total_seconds()
        self._under_way: dict[asyncio.Future[R], S] = {}
        self._ended: asyncio.Queue[asyncio.Future[R]] = asyncio.Queue()
        self._failure: BaseException | None = None

    async def drain(self, samples: Iterator[S]) -> int:
        """All samples, through the window; how many began."""
        try:
            begun = await self._begin_all(samples)
            await self._until(0)
        except asyncio.CancelledError:
            await self._abandon()
            raise
        if self._failure is not None:
            raise self._failure
        return begun

    async def _begin_all(self, samples: Iterator[S]) -> int:
        begun = 0
        try:
            for sample in samples:
                self._begin(sample)
                begun += 1
                if self._apart_s and begun < self._at_once:
                    await asyncio.sleep(self._apart_s)
                await self._until(self._at_once - 1)
                if self._failure is not None:
                    break
        except Exception as error:  # noqa: BLE001  (the data set's; raised by `drain` once what is under way has ended)
            self._failure = error
        return begun

    def _begin(self, sample: S) -> None:
        task = asyncio.ensure_future(self._work(sample))
        self._under_way[task] = sample
        task.add_done_callback(self._ended.put_nowait)

    async def _until(self, left: int) -> None:
        """Hand over what ends until no more than `left` are under way."""
        while len(self._under_way) > left:
            task = await self._ended.get()
            sample = self._under_way.pop(task)
            try:
                self._done(sample, task.result())
            except Exception as error:  # noqa: BLE001  (raised by `drain`, as above)
                self._failure = self._failure or error

    async def _abandon(self) -> None:
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)


def _read(samples: Iterable[S], size: int) -> Iterator[S]:
    """The samples, read a micro-batch at a time."""
    source = iter(samples)
    while batch := list(islice(source, size)):
        yield from batch
