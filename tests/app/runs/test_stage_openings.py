"""Stages that begin together are opened together, and each as if it were alone."""

from uuid import uuid4

import asyncpg
import orjson
import pytest

from app.domain.contract import Halt
from app.domain.errors import NotFound
from app.runs.storage import events
from app.runs.storage.run_log import RunLog
from app.runs.storage.stage_openings import WantedStage, open_stages
from tests.app.conftest import NewRun
from tests.support.stage_opening import open_stage


async def test_each_stage_is_found_as_it_is_and_reads_its_own_needs(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    for name in ("search/s1", "search/s2"):
        await open_stage(run_log, run, name, None)
        await run_log.close_stage(run, name, 1, name.encode(), [], {})
    await run_log.drop_stage(run, "search/s4")
    wanted = (
        WantedStage("search/s2", "Done"),
        WantedStage("search/s3", "Third", ("search/s2", "search/s1")),
        WantedStage("search/s4", "Fourth", ("search/s1",)),
        WantedStage("search/s5", "Fifth"),
    )
    done, third, dropped, fifth = await open_stages(pool, run, wanted, None)
    assert done.result == b"search/s2"
    assert (third.needed, third.attempt, third.halt) == ([b"search/s2", b"search/s1"], 1, Halt.NONE)
    assert (dropped.needed, dropped.halt) == ([b"search/s1"], Halt.DROPPED)
    assert (fifth.needed, fifth.result) == ([], None)
    again = await open_stages(pool, run, wanted[1:2], None)
    assert again[0].attempt == 2
    told = [orjson.loads(e.body)["payload"] for e in await events.read_after(pool, run, 0) if e.type == "stage_started"]
    assert [each["title"] for each in told if each["title"]] == ["Third", "Fifth", "Third"]


async def test_reservations_of_stages_opened_together_add_up_to_the_cap(new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    await pool.execute("UPDATE ledgers SET max_tokens = 250 WHERE run_id = $1", run)
    openings = await open_stages(pool, run, [WantedStage(f"search/s{n}") for n in range(3)], (100, 0))
    assert [opening.granted for opening in openings] == [True, True, False]
    assert await pool.fetchval("SELECT reserved_tokens FROM ledgers WHERE run_id = $1", run) == 200


async def test_a_run_that_is_not_there_opens_nothing(pool: asyncpg.Pool) -> None:
    with pytest.raises(NotFound, match="there is no run"):
        await open_stages(pool, uuid4(), [WantedStage("plan"), WantedStage("report")], None)
