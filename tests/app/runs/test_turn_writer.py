"""Turns stored together: numbered without gaps, each with its own receipt, and none of them taken down by another."""

import asyncio
from collections.abc import Sequence

import asyncpg
import pytest

from app.domain.contract import Halt
from app.domain.errors import NotFound
from app.domain.trajectory import Turn
from app.runs.storage.run_log import Receipt, RunLog
from tests.app.conftest import NewRun
from tests.app.runs.test_run_log import store, turn
from tests.support.stage_opening import open_stage

AGENTS = [f"report/section/{n}" for n in range(40)]


async def test_what_ends_together_is_stored_in_the_order_it_came(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    first, second = [await new_run(), await new_run()]
    for run in (first, second):
        await open_stage(run_log, run, "report", None)
    jobs = [store(run_log, run, 1, turn(0, agent=agent), "report") for agent in AGENTS for run in (first, second)]
    receipts: Sequence[Receipt] = await asyncio.gather(*jobs)
    for run, numbers in ((first, receipts[::2]), (second, receipts[1::2])):
        seqs = [receipt.seq for receipt in numbers]
        assert seqs == list(range(seqs[0], seqs[0] + len(AGENTS)))
        rows = await pool.fetch("SELECT agent, seq FROM turns WHERE run_id = $1 ORDER BY seq", run)
        assert [(row["agent"], row["seq"]) for row in rows] == list(zip(AGENTS, seqs, strict=True))
        assert await pool.fetchval("SELECT model_calls FROM ledgers WHERE run_id = $1", run) == len(AGENTS)
    transactions = await pool.fetchval("SELECT count(DISTINCT xmin::text) FROM turns WHERE run_id = ANY($1)", [first, second])
    assert transactions <= 4


@pytest.mark.parametrize("number", [2, 4])
async def test_a_turn_that_cannot_be_stored_takes_no_other_with_it(
    run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool, number: int
) -> None:
    run = await new_run()
    await open_stage(run_log, run, "report", None)
    turns: list[Turn] = [turn(0, agent=agent) for agent in AGENTS[:number]]
    turns[1] = turns[1].model_copy(update={"step": "no\x00text"})
    outcomes = await asyncio.gather(*(store(run_log, run, 1, t, "report") for t in turns), return_exceptions=True)
    assert [isinstance(outcome, asyncpg.PostgresError) for outcome in outcomes] == [n == 1 for n in range(number)]
    assert await pool.fetchval("SELECT count(*) FROM turns WHERE run_id = $1", run) == number - 1


async def test_a_stage_that_was_never_opened_concerns_only_its_own_turn(run_log: RunLog, new_run: NewRun) -> None:
    run = await new_run()
    await open_stage(run_log, run, "report", None)
    known, unknown = await asyncio.gather(
        store(run_log, run, 1, turn(0), "report"), store(run_log, run, 1, turn(0), "plan"), return_exceptions=True
    )
    assert isinstance(unknown, NotFound)
    assert isinstance(known, Receipt)
    assert known.halt is Halt.NONE


async def test_a_turn_whose_agent_is_cancelled_is_stored_all_the_same(
    run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool
) -> None:
    run = await new_run()
    await open_stage(run_log, run, "report", None)
    job = asyncio.create_task(store(run_log, run, 1, turn(0), "report"))
    await asyncio.sleep(0)
    job.cancel()
    await store(run_log, run, 1, turn(1), "report")
    assert await pool.fetchval("SELECT count(*) FROM turns WHERE run_id = $1", run) == 2
