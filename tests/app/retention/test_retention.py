"""What an organisation does not want kept is gone after its time, and nothing else is."""

from collections.abc import Iterator
from datetime import date, timedelta
from uuid import UUID

import asyncpg

from app.domain.run import EventType
from app.retention import storage as retention
from app.retention.service.retention import delete_past
from app.runs.storage.run_log import RunLog, SourceSnapshot
from tests.app.browser import Browser
from tests.app.conftest import NewBrowser
from tests.app.finished_run import write_begin, write_end
from tests.app.served_api import ApiClient
from tests.support.stage_opening import open_stage

AGED = "UPDATE runs SET finished_at = now() - make_interval(days => $2) WHERE id = $1"
CALL = "INSERT INTO tool_calls (run_id, key, result) VALUES ($1, 'search:x', 'what the tool brought')"
LEFT = """
    SELECT (SELECT count(*) FROM runs WHERE id = $1) AS runs, (SELECT count(*) FROM events WHERE run_id = $1) > 0 AS events,
           (SELECT count(*) FROM tool_calls WHERE run_id = $1) AS tool_results, (SELECT count(*) FROM reports WHERE run_id = $1)
           AS reports, (SELECT count(*) FROM ratings WHERE run_id = $1) AS ratings"""


async def ended(owner: Browser, pool: asyncpg.Pool, days_ago: int) -> UUID:
    """A rated run that ended so long ago."""
    run_id = UUID(await owner.ask("What is kept?"))
    await write_begin(RunLog(pool), run_id)
    await write_end(pool, RunLog(pool), run_id)
    await pool.execute(CALL, run_id)
    assert (await owner.post(f"/v1/runs/{run_id}/rating", {"stars": 3})).status < 300
    await pool.execute("UPDATE ratings SET made_at = now() - make_interval(days => $2) WHERE run_id = $1", run_id, days_ago)
    await pool.execute(AGED, run_id, days_ago)
    return run_id


async def left(pool: asyncpg.Pool, run_id: UUID) -> tuple[object, ...]:
    """Whether there are, of a run: itself, events, results of tools, its report, ratings."""
    return tuple(bool(value) for value in await pool.fetchrow(LEFT, run_id) or ())


async def test_what_is_past_its_time_is_deleted(new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool) -> None:
    owner, other = await new_browser(), await new_browser()
    await owner.sign_up(next(addresses), "Forgets")
    await other.sign_up(next(addresses), "Keeps")
    assert (await owner.get("/v1/retention")).json == dict.fromkeys(
        ("runs_days", "events_days", "tool_results_days", "feedback_days")
    )
    ages = (1, 9, 32, 100, 400)
    young, week, month, season, old = [await ended(owner, pool, days) for days in ages]
    theirs, baseline = await ended(other, pool, 400), await ended(owner, pool, 400)
    asked = {"name": "Weekly", "from_run": str(baseline), "timing": {"cron": "0 8 * * mon"}}
    assert (await owner.post("/v1/schedules", asked)).status == 201
    open_run = UUID(await owner.ask("What goes on?"))
    await pool.execute("UPDATE runs SET created_at = now() - interval '2 years' WHERE id = $1", open_run)
    for name in ("of no run", "wanted again"):
        await pool.execute("INSERT INTO snapshots (hash, body, first_seen) VALUES ($1, 'x', now() - interval '2 days')", name)
    assert await RunLog(pool).missing_snapshots(["wanted again", "unknown"]) == {"unknown"}  # as a worker about to cite it asks

    wanted = {"runs_days": 365, "events_days": 90, "tool_results_days": 7, "feedback_days": 30}
    assert (await owner.send("PUT", "/v1/retention", json=wanted)).json == wanted
    gone = await delete_past(pool)
    assert gone["runs"] == 1
    assert await left(pool, young) == (True, True, True, True, True)
    assert await left(pool, week) == (True, True, False, True, True)
    assert await left(pool, month) == (True, True, False, True, False)
    assert await left(pool, season) == (True, False, False, True, False)
    assert await left(pool, old) == (False, False, False, False, False)
    assert await left(pool, theirs) == (True, True, True, True, True)
    assert (await left(pool, baseline))[:4] == (True, True, True, True)  # its schedule still compares with it
    assert (await left(pool, open_run))[:2] == (True, True)
    kept = {row["hash"] for row in await pool.fetch("SELECT hash FROM snapshots")}
    assert ("of no run" in kept, "wanted again" in kept) == (False, True)
    assert await delete_past(pool) == {}

    assert (await owner.get(f"/v1/runs/{old}")).is_problem(404)
    assert (await owner.get(f"/v1/runs/{season}/report")).status == 200
    told = [event async for event in owner.events(str(season))]
    assert [event["type"] for event in told] == [EventType.GAP]  # who watches is told, and not left waiting
    [entry] = [item for item in (await owner.get("/v1/audit")).json["items"] if item["action"] == "retention_changed"]
    assert entry["detail"] == {name: str(days) for name, days in wanted.items()}


async def test_a_draft_loses_its_words_in_time_and_its_month_goes_on_paying_for_it(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses), "Drafts")
    drafted = (await owner.post("/v1/rubrics", {"question": "What is secret here?"})).json
    paid = "UPDATE drafts SET input_tokens = 700, cost_microusd = 40, created_at = now() - interval '50 hours' WHERE id = $1"
    await pool.execute(paid, UUID(drafted["id"]))
    span = f"/v1/usage?since={date.today() - timedelta(days=5)}"
    used, told = (await owner.get("/v1/quotas")).json["used"], (await owner.get(span)).json
    assert told["total"]["tokens"] >= 700
    assert (await owner.send("PUT", "/v1/retention", json={"runs_days": 1})).status == 200
    assert (await delete_past(pool))["drafts"] == 1
    assert ((await owner.get("/v1/quotas")).json["used"], (await owner.get(span)).json) == (used, told)
    kept = await pool.fetchval("SELECT d::text FROM drafts d WHERE id = $1", UUID(drafted["id"]))
    assert "secret" not in kept
    asked = {"question": "What now?", "rubric": {"draft": drafted["id"], "criteria": drafted["rubric"]["criteria"]}}
    assert "no drafted rubric" in (await owner.post("/v1/runs", asked)).json["detail"]
    assert await delete_past(pool) == {}


ROUND = """
    INSERT INTO schedule_firings (schedule_id, organisation_id, due_at, outcome, run_id, baseline_id, changes, ended_at)
    SELECT id, organisation_id, now() - make_interval(days => $2), 'changed', $3, $4, '{"claims": "quoted words"}',
           now() - make_interval(days => $2) FROM schedules WHERE id = $1"""
WORDS = "SELECT outcome, changes FROM schedule_firings WHERE schedule_id = $1 ORDER BY due_at"


async def test_what_a_schedule_found_goes_with_the_reports_that_said_it(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses), "Watches")
    first, second, third = [await ended(owner, pool, 1) for _ in range(3)]
    asked = {"name": "Weekly", "from_run": str(third), "timing": {"cron": "0 8 * * mon"}}
    schedule = UUID((await owner.post("/v1/schedules", asked)).json["id"])
    for days, run, before in ((40, second, first), (3, second, first), (2, third, second), (1, third, first)):
        await pool.execute(ROUND, schedule, days, run, before)
    assert (await owner.send("PUT", "/v1/retention", json={"runs_days": 30})).status == 200
    assert await delete_past(pool) == {"schedule_firings": 1}
    assert (await owner.delete(f"/v1/runs/{second}")).status == 204
    assert await delete_past(pool) == {"changes": 2}
    kept = [(row["outcome"], row["changes"] is not None) for row in await pool.fetch(WORDS, schedule)]
    assert kept == [("changed", False), ("changed", False), ("changed", True)]
    assert await delete_past(pool) == {}


OLD_COPY = "INSERT INTO snapshots (hash, body, first_seen) VALUES ($1, 'cited', now() - interval '2 days')"


async def cite(log: RunLog, run: UUID, copy: SourceSnapshot, missing: frozenset[str]) -> None:
    """Close a stage as a worker does: the texts of missing sources travel."""
    await open_stage(log, run, "search/s1", None)
    sent = [copy] if copy.hash in missing else []
    assert await log.close_stage(run, "search/s1", 1, b"found", sent, {}, [copy.hash])


async def test_a_copy_that_is_asked_for_during_the_sweep_is_kept(api: ApiClient, pool: asyncpg.Pool, run_log: RunLog) -> None:
    run, copy = UUID(await api.ask()), SourceSnapshot("d" * 64, "cited")
    await pool.execute(OLD_COPY, copy.hash)
    async with pool.acquire() as worker, worker.transaction():
        missing = await RunLog(worker).missing_snapshots([copy.hash])
        assert await delete_past(pool) == {}
    await cite(run_log, run, copy, missing)
    assert (await api.get(f"/v1/snapshots/{copy.hash}")).body == b"cited"


async def test_a_copy_that_is_being_swept_is_stored_anew(api: ApiClient, pool: asyncpg.Pool, run_log: RunLog) -> None:
    run, copy = UUID(await api.ask()), SourceSnapshot("e" * 64, "cited")
    await pool.execute(OLD_COPY, copy.hash)
    async with pool.acquire() as sweep, sweep.transaction():
        assert await retention.forget(sweep, "snapshots", 10) == 1
        missing = await run_log.missing_snapshots([copy.hash])
    await cite(run_log, run, copy, missing)
    assert (await api.get(f"/v1/snapshots/{copy.hash}")).body == b"cited"


async def test_who_may_say_how_long(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    owner, viewer = await new_browser(), await new_browser()
    await owner.sign_up(next(addresses), "Roles")
    await viewer.accept(await owner.invite(next(addresses), "viewer"))
    assert (await viewer.send("PUT", "/v1/retention", json={"runs_days": 1})).is_problem(403)
    for wrong in ({"runs_days": 0}, {"runs_days": 1.5}, {"days": 1}, {"events_days": 10**9}):
        assert (await owner.send("PUT", "/v1/retention", json=wrong)).is_problem(400), wrong
