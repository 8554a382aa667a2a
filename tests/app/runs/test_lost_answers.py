"""The connection ends between a commit and its answer: what is sent again counts once, whoever went on in between."""

from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import asyncpg
import pytest

from app.database.engine import connect
from app.domain.budget import Budget
from app.domain.contract import Halt
from app.domain.errors import Unavailable
from app.domain.plan import ResearchPlan, Subtask
from app.domain.run import EventType
from app.runs.storage import events, runs
from app.runs.storage.run_log import NOTHING, Receipt, Reservation, RunLog
from tests.app.conftest import NewRun
from tests.app.runs.test_run_log import store, turn
from tests.support.lossy_proxy import LossyProxy
from tests.support.stage_opening import open_stage

T = TypeVar("T")
STAGE = "search/s1"
RESERVED = """
    SELECT l.reserved_tokens, s.reserved_tokens FROM ledgers l JOIN stages s USING (run_id) WHERE run_id = $1 AND stage = $2"""


@dataclass
class Shaky:
    """A worker's record over a line that can be cut."""

    log: RunLog
    line: LossyProxy

    async def unanswered(self, named: str, send: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Send, lose the answer, and send again: the second answer."""
        await self.lose(named, send)
        return await send()

    async def lose(self, named: str, send: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Send, and lose the answer."""
        with self.line.lose_answers_to(named), pytest.raises(Unavailable):
            await send()


@pytest.fixture
async def shaky(postgres_url: str) -> AsyncIterator[Shaky]:
    line = LossyProxy(postgres_url)
    async with line.serve_url() as address:
        through = await connect(address, largest=1)
        yield Shaky(RunLog(through), line)
        through.terminate()


async def used(pool: asyncpg.Pool, run: UUID) -> tuple[int, int]:
    """Model calls billed, turns on record."""
    found = await runs.get(pool, run)
    assert found is not None
    return found.usage.model_calls, await pool.fetchval("SELECT count(*) FROM turns WHERE run_id = $1", run)


async def test_a_turn_that_the_next_attempt_found_is_not_billed_again(
    shaky: Shaky, run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool
) -> None:
    run = await new_run()
    await open_stage(run_log, run, STAGE, None)
    await shaky.lose("store_turn", lambda: store(shaky.log, run, 1, turn(0)))
    again = await open_stage(run_log, run, STAGE, None)
    assert [found.digest for found in again.turns] == ["d0"]
    assert (await store(shaky.log, run, 1, turn(0))).halt is Halt.SUPERSEDED
    assert await used(pool, run) == (1, 1)
    # Nor when the next attempt has put another request in its place.
    assert (await store(run_log, run, 2, turn(0, "other"))).halt is Halt.NONE
    assert (await store(shaky.log, run, 1, turn(0))).halt is Halt.SUPERSEDED
    assert await used(pool, run) == (2, 2)


async def test_a_late_turn_is_billed_once(shaky: Shaky, run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    for _ in range(2):
        await open_stage(run_log, run, STAGE, None)
    receipt: Receipt = await shaky.unanswered("store_turn", lambda: store(shaky.log, run, 1, turn(0)))
    assert (receipt.halt, receipt.granted) == (Halt.SUPERSEDED, False)
    assert await used(pool, run) == (1, 0)
    # The same request, asked and paid for by the attempt that runs now, is another call.
    assert (await store(run_log, run, 2, turn(0))).halt is Halt.NONE
    assert await used(pool, run) == (2, 1)


async def test_what_is_asked_again_after_a_changed_request_is_billed_again(
    run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool
) -> None:
    run = await new_run()
    for attempt, digest in ((1, "old"), (2, "new")):
        await open_stage(run_log, run, STAGE, None)
        await store(run_log, run, attempt, turn(0, digest))
        await store(run_log, run, attempt, turn(1, "the same"))
    assert await used(pool, run) == (4, 4)


async def test_a_reservation_is_exchanged_once(shaky: Shaky, run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run(Budget(max_tokens=1_000))
    await open_stage(run_log, run, STAGE, Reservation(100))
    await open_stage(run_log, run, "search/s2", Reservation(300))

    async def exchange(released: int, wanted: int, call: int) -> tuple[bool, int, int]:
        told = await shaky.unanswered(
            "reserve", lambda: shaky.log.reserve(run, STAGE, 1, Reservation(released), Reservation(wanted), call)
        )
        row = await pool.fetchrow(RESERVED, run, STAGE)
        assert row is not None
        return told[1], *row

    assert await exchange(100, 250, 1) == (True, 550, 250)
    assert await exchange(250, 50, 2) == (True, 350, 50)
    # A refusal gives back what was held, once: twice would make room that siblings hold.
    assert await exchange(50, 800, 3) == (False, 300, 0)
    assert await exchange(0, 700, 4) == (True, 1_000, 700)


async def test_a_stage_whose_closing_was_not_answered_is_closed(shaky: Shaky, run_log: RunLog, new_run: NewRun) -> None:
    run = await new_run()
    await open_stage(run_log, run, "plan", NOTHING)
    assert not await shaky.unanswered("close_stage", lambda: shaky.log.close_stage(run, "plan", 1, b"the result", [], {}))
    assert (await open_stage(run_log, run, "plan", NOTHING)).result == b"the result"


async def list_told_events(pool: asyncpg.Pool, run: UUID) -> list[tuple[int, str]]:
    return [(event.seq, event.type) for event in await events.read_after(pool, run, 1)]


async def test_what_a_stage_tells_is_told_once_and_by_who_has_the_word(
    shaky: Shaky, run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool
) -> None:
    run = await new_run()
    await open_stage(run_log, run, STAGE, None)
    what, said = (EventType.WARNING, STAGE), {"message": "cited nowhere"}
    both = [(1, said), (2, {"message": "read nowhere"})]
    await shaky.lose("tell", lambda: shaky.log.append_once(run, STAGE, 1, *what, both))
    await run_log.append_once(run, STAGE, 1, *what, [(3, said)])  # another agent's, meanwhile
    await shaky.log.append_once(run, STAGE, 1, *what, both)
    assert await list_told_events(pool, run) == [(2, "stage_started"), (3, "warning"), (4, "warning"), (5, "warning")]
    await open_stage(run_log, run, STAGE, None)
    await shaky.log.append_once(run, STAGE, 1, *what, [(4, said)])  # a frozen worker wakes up
    await run_log.append_once(run, STAGE, 2, *what, [(1, said)])
    assert [kind for _, kind in await list_told_events(pool, run)] == [
        "stage_started",
        "warning",
        "warning",
        "warning",
        "stage_started",
        "warning",
    ]


async def test_a_plan_is_saved_once_and_never_instead_of_a_later_one(
    shaky: Shaky, run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool
) -> None:
    run = await new_run()
    first, second = (ResearchPlan(subtasks=(Subtask(id="s1", title="What", question="?"),), revision=n) for n in (1, 2))
    assert await shaky.unanswered("UPDATE runs", lambda: shaky.log.save_plan(run, first, (), EventType.PLAN_MADE)) is None
    assert await run_log.save_plan(run, first, ("s1",), EventType.PLAN_REVISED) == 3
    assert await run_log.save_plan(run, second, ("s1",), EventType.PLAN_REVISED) == 4
    assert await shaky.log.save_plan(run, first, ("s1",), EventType.PLAN_REVISED) is None
    assert await list_told_events(pool, run) == [(2, "plan_made"), (3, "plan_revised"), (4, "plan_revised")]
    loaded = await run_log.load(run)
    assert (loaded.plan, loaded.dropped) == (second, ("s1",))


async def store_many(log: RunLog, run: UUID) -> None:
    for ordinal in range(1_000):
        await store(log, run, 1, turn(ordinal))


async def test_the_last_words_of_a_killed_server_are_an_outage(shaky: Shaky, new_run: NewRun) -> None:
    """They come while nobody asked anything, and leave the connection out of step for whoever asks next."""
    run = await new_run()
    await open_stage(shaky.log, run, STAGE, None)
    await shaky.line.send_last_words()
    with pytest.raises(Unavailable):
        await store_many(shaky.log, run)
    shaky.line.hang_up()
    assert (await store(shaky.log, run, 1, turn(1_000))).halt is Halt.NONE


async def test_a_server_that_is_away_leaves_no_traceback_in_the_log(
    shaky: Shaky, new_run: NewRun, caplog: pytest.LogCaptureFixture
) -> None:
    run = await new_run()
    await open_stage(shaky.log, run, STAGE, None)
    shaky.line.away = True
    shaky.line.hang_up()
    with pytest.raises(Unavailable, match=r"the database cannot do this now: \w"):
        await store(shaky.log, run, 1, turn(0))
    assert not [record for record in caplog.records if record.exc_info]
