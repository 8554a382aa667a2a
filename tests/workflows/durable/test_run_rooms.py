"""The stages of a run share what one of them has read."""

import asyncio
from datetime import timedelta

from app.domain.contract import Halt
from workflows.durable.run_rooms import RunRoom

SHARED, FRESH = timedelta(minutes=1), timedelta(0)


async def test_stages_share_one_answer_until_one_wants_a_fresh_one() -> None:
    room, asked, wish = RunRoom(), list[Halt](), Halt.NONE

    async def ask() -> Halt:
        asked.append(wish)
        await asyncio.sleep(0)
        return wish

    together = await asyncio.gather(*(room.find_wish(ask, SHARED) for _ in range(8)))
    wish = Halt.PAUSE
    assert [*together, await room.find_wish(ask, SHARED)] == [Halt.NONE] * 9
    assert [await room.find_wish(ask, FRESH), await room.find_wish(ask, SHARED)] == [Halt.PAUSE] * 2
    assert asked == [Halt.NONE, Halt.PAUSE]


async def test_a_stage_that_ends_while_it_asks_takes_the_answer_from_no_other() -> None:
    room, said = RunRoom(), asyncio.Event()

    async def ask() -> Halt:
        await said.wait()
        return Halt.CANCEL

    first, second = (asyncio.create_task(room.find_wish(ask, SHARED)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    said.set()
    assert await second is Halt.CANCEL
