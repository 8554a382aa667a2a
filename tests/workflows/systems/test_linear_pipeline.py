"""The window over a data set: never wider than asked, never idle, nothing that ended is lost."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest

from workflows.systems.linear_pipeline import Window, run_pipeline


def in_step(at_once: int, micro_batch: int = 8) -> Window:
    """A window that lets no time pass, so that turns of the loop can be counted."""
    return Window(at_once, micro_batch, apart=timedelta(0))


class Work:
    """Works a sample for as many turns of the loop as it says; keeps how many were under way at once."""

    def __init__(self) -> None:
        self.under_way = self.most = 0
        self.ended: list[int] = []

    async def __call__(self, sample: int) -> int:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            for _ in range(sample):
                await asyncio.sleep(0)
        finally:
            self.under_way -= 1
        if sample == 13:
            raise ValueError("no 13 here")
        self.ended.append(sample)
        return sample * 2


@pytest.mark.parametrize("at_once", [1, 3, 50])
async def test_every_sample_once_within_the_window(at_once: int) -> None:
    work, heard = Work(), list[tuple[int, int]]()
    samples = [(n * 5) % 11 + 1 for n in range(40)]
    assert await run_pipeline(samples, work, lambda s, r: heard.append((s, r)), in_step(at_once, 4)) == 40
    assert sorted(heard) == sorted((s, s * 2) for s in samples)
    assert [sample for sample, _ in heard] == work.ended
    assert work.most == min(at_once, 40)


async def test_the_first_samples_do_not_begin_in_one_instant() -> None:
    work, heard = Work(), list[int]()
    assert await run_pipeline([1] * 40, work, lambda s, _: heard.append(s), Window(40)) == 40
    assert len(heard) == 40
    assert work.most < 20


async def test_a_short_sample_does_not_wait_for_a_long_one() -> None:
    heard = list[int]()
    await run_pipeline([400, *[1] * 20], Work(), lambda s, _: heard.append(s), in_step(2))
    assert heard == [1] * 20 + [400]


async def test_the_first_result_comes_when_its_sample_is_done_though_the_window_is_not_full() -> None:
    begun, begun_at_the_first = list[int](), list[int]()

    async def work(sample: int) -> None:
        begun.append(sample)

    apart = Window(at_once=50, apart=timedelta(milliseconds=5))
    assert await run_pipeline(range(20), work, lambda *_: begun_at_the_first.append(len(begun)), apart) == 20
    assert begun_at_the_first[0] == 1


async def test_one_cancelled_sample_costs_itself() -> None:
    heard = list[int]()

    async def work(sample: int) -> int:
        await asyncio.sleep(0)
        if sample == 3:
            raise asyncio.CancelledError
        return sample

    assert await run_pipeline(range(8), work, lambda s, _: heard.append(s), in_step(2)) == 7
    assert heard == [0, 1, 2, 4, 5, 6, 7]


async def test_the_data_set_is_read_as_far_as_the_window_needs() -> None:
    read = list[int]()
    began = asyncio.Event()

    def data_set() -> Iterator[int]:
        for number in range(1_000):
            read.append(number)
            yield number

    async def stuck(_: int) -> None:
        began.set()
        await asyncio.Event().wait()

    line = asyncio.ensure_future(run_pipeline(data_set(), stuck, lambda *_: None, in_step(3, 5)))
    await began.wait()
    await asyncio.sleep(0)
    assert len(read) == 5
    line.cancel()
    with pytest.raises(asyncio.CancelledError):
        await line
    assert len(asyncio.all_tasks()) == 1


async def test_what_is_under_way_when_one_raises_is_handed_over() -> None:
    work, heard = Work(), list[int]()
    with pytest.raises(ValueError, match="no 13 here"):
        await run_pipeline([20, 13, 30, 1, 1, 1], work, lambda s, _: heard.append(s), in_step(3))
    assert heard == [20, 30]


async def test_a_listener_or_a_data_set_that_fails_ends_the_line_loudly() -> None:
    def full(sample: int, _: int) -> None:
        raise OSError(f"disk full at {sample}")

    with pytest.raises(OSError, match="disk full at 2"):
        await run_pipeline([5, 2, 9, 1], Work(), full, in_step(2))

    def torn() -> Iterator[int]:
        yield 3
        raise OSError("line 2 is no JSON")

    heard = list[int]()
    with pytest.raises(OSError, match="line 2"):
        await run_pipeline(torn(), Work(), lambda s, _: heard.append(s), in_step(2, 1))
    assert heard == [3]


def test_a_window_holds_something() -> None:
    with pytest.raises(ValueError, match="one sample"):
        Window(0)
