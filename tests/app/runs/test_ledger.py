"""The ledger: totals that are exact whoever writes at once, and a cap that parallel agents cannot pass together."""

import asyncio
from uuid import UUID

import asyncpg

from app.domain.budget import Budget, Usage
from app.domain.contract import Halt
from app.domain.run import EventType, RunStatus
from app.domain.trajectory import Turn, TurnKind
from app.runs.storage import events, steering
from app.runs.storage.run_log import NOTHING, Receipt, Reservation, RunLog
from tests.app.conftest import NewRun
from tests.support.stage_opening import open_stage

WRITERS = 8
TURNS = 25
CALL = Usage(model_calls=1, input_tokens=70, output_tokens=30, cost_microusd=11)
ROOM = Reservation(100, 11)


async def spend(
    log: RunLog, run: UUID, stage: str, ordinal: int, released: Reservation, following: Reservation | None, attempt: int = 1
) -> Receipt:
    what = Turn(agent=stage, ordinal=ordinal, kind=TurnKind.MODEL, step="act", digest=f"d{ordinal}")
    return await log.store_turn(run, stage, attempt, what, CALL, released, following, EventType.MODEL_CALL, {})


async def ledger(pool: asyncpg.Pool, run: UUID) -> asyncpg.Record:
    row = await pool.fetchrow("SELECT * FROM ledgers WHERE run_id = $1", run)
    assert row is not None
    return row


async def test_totals_and_numbers_are_exact_under_parallel_writers(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()

    async def agent(name: str) -> list[int]:
        await open_stage(run_log, run, name, ROOM)
        return [(await spend(run_log, run, name, n, ROOM, ROOM)).seq for n in range(TURNS)]

    numbers = await asyncio.gather(*(agent(f"search/s{n}") for n in range(WRITERS)))
    calls = WRITERS * TURNS
    row = await ledger(pool, run)
    assert (row["model_calls"], row["input_tokens"], row["output_tokens"]) == (calls, 70 * calls, 30 * calls)
    assert (row["cost_microusd"], row["reserved_tokens"], row["reserved_cost_microusd"]) == (
        11 * calls,
        100 * WRITERS,
        11 * WRITERS,
    )
    logged = [event.seq for event in await events.read_after(pool, run, 0, limit=1_000)]
    assert logged == list(range(1, 1 + WRITERS + calls + 1))
    assert sorted(number for mine in numbers for number in mine) == sorted(set(logged) - {1} - await opened(pool, run))


async def opened(pool: asyncpg.Pool, run: UUID) -> set[int]:
    rows = await pool.fetch("SELECT seq FROM events WHERE run_id = $1 AND type = 'stage_started'", run)
    return {row["seq"] for row in rows}


async def test_parallel_agents_stop_at_the_cap_together(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    """Each call costs exactly what was reserved for it, so the cap is reached and never passed."""
    run = await new_run(Budget(max_tokens=5_050))

    async def agent(name: str) -> int:
        opening = await open_stage(run_log, run, name, ROOM)
        calls = 0
        granted = opening.granted
        while granted:
            await asyncio.sleep(0)
            receipt = await spend(run_log, run, name, calls, ROOM, ROOM)
            calls += 1
            granted = receipt.granted
            assert receipt.halt is (Halt.NONE if granted else Halt.BUDGET)
        return calls

    done = await asyncio.gather(*(agent(f"search/s{n}") for n in range(WRITERS)))
    row = await ledger(pool, run)
    assert sum(done) == 50
    assert row["input_tokens"] + row["output_tokens"] == 5_000
    assert row["reserved_tokens"] == 0


async def test_money_is_capped_too(run_log: RunLog, new_run: NewRun) -> None:
    run = await new_run(Budget(max_cost_microusd=32))
    opening = await open_stage(run_log, run, "plan", ROOM)
    assert opening.granted
    assert (await spend(run_log, run, "plan", 0, ROOM, Reservation(0, 21))).granted
    assert not (await spend(run_log, run, "plan", 1, Reservation(0, 21), Reservation(0, 11))).granted


async def test_time_is_counted_only_while_the_run_is_running(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run(Budget(max_seconds=60))
    await run_log.set_status(run, RunStatus.RUNNING)
    await pool.execute("UPDATE ledgers SET running_since = now() - interval '59 seconds' WHERE run_id = $1", run)
    await run_log.set_status(run, RunStatus.PAUSED)
    await pool.execute("UPDATE ledgers SET updated_at = now() - interval '9 days' WHERE run_id = $1", run)
    assert (await open_stage(run_log, run, "plan", NOTHING)).granted
    await run_log.set_status(run, RunStatus.RUNNING)
    await pool.execute("UPDATE ledgers SET running_since = now() - interval '2 seconds' WHERE run_id = $1", run)
    receipt = await spend(run_log, run, "plan", 0, NOTHING, NOTHING)
    assert (receipt.halt, receipt.granted) == (Halt.BUDGET, False)
    assert await run_log.set_status(run, RunStatus.BUDGET_REACHED) is not None
    assert not await steering.has_budget_left(pool, run)
    await steering.set_budget(pool, run, Budget(max_seconds=90))
    assert await steering.has_budget_left(pool, run)


async def test_reservations_of_a_dead_attempt_are_given_back(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run(Budget(max_tokens=1_000))
    await open_stage(run_log, run, "report", Reservation(300))
    assert await run_log.reserve(run, "report", 1, NOTHING, Reservation(300)) == (Halt.NONE, True)
    assert await run_log.reserve(run, "report", 1, NOTHING, Reservation(500)) == (Halt.BUDGET, False)
    assert (await ledger(pool, run))["reserved_tokens"] == 600
    again = await open_stage(run_log, run, "report", Reservation(900))
    assert again.granted
    assert (await ledger(pool, run))["reserved_tokens"] == 900
    assert await run_log.reserve(run, "report", 2, Reservation(900), None) == (Halt.NONE, True)
    assert (await ledger(pool, run))["reserved_tokens"] == 0


async def test_a_refused_reservation_reserves_nothing(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run(Budget(max_tokens=150))
    opening = await open_stage(run_log, run, "plan", Reservation(151))
    assert (opening.halt, opening.granted) == (Halt.BUDGET, False)
    assert (await open_stage(run_log, run, "plan", Reservation(150))).granted
    assert not (await spend(run_log, run, "plan", 0, Reservation(150), Reservation(51), attempt=2)).granted
    assert (await ledger(pool, run))["reserved_tokens"] == 0


async def test_a_stage_that_spends_nothing_may_run_when_all_is_spent(run_log: RunLog, new_run: NewRun) -> None:
    run = await new_run(Budget(max_tokens=100))
    await open_stage(run_log, run, "plan", ROOM)
    assert (await spend(run_log, run, "plan", 0, ROOM, ROOM)).halt is Halt.BUDGET
    assert (await open_stage(run_log, run, "report", None)).halt is Halt.NONE
