"""A run that somebody deletes is gone with all that came of it; what it used stays counted."""

from collections.abc import Iterator
from uuid import UUID

import asyncpg

from app.domain.run import RunStatus
from app.runs.storage.run_log import RunLog
from tests.app.browser import Browser
from tests.app.conftest import NewBrowser
from tests.app.finished_run import HASH, write_begin, write_end
from tests.app.finished_run import TEXT as SOURCE

NAMING_RUNS = """
    SELECT conrelid::regclass::text AS name, attname AS by FROM pg_constraint
    JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[cardinality(conkey)]
    WHERE confrelid = 'runs'::regclass AND contype = 'f'"""
CITED = "INSERT INTO run_sources (hash, organisation_id, run_id) SELECT $1, organisation_id, id FROM runs WHERE id = $2"
QUEUED = """
    INSERT INTO report_tasks (id, run_id, kind, base, request, status) VALUES (gen_random_uuid(), $1, 'question', 1, '{}', $2)
    RETURNING id"""
STARTED = (
    "INSERT INTO runs (id, query, organisation_id, {column}) SELECT gen_random_uuid(), $2, organisation_id, {value} FROM runs"
)


async def ended(who: Browser, pool: asyncpg.Pool, question: str = "What is deleted?") -> UUID:
    """A finished run that cites the stored copy of a source."""
    run_id, log = UUID(await who.ask(question)), RunLog(pool)
    await write_begin(log, run_id)
    await write_end(pool, log, run_id)
    await pool.execute("INSERT INTO snapshots (hash, body) VALUES ($1, $2) ON CONFLICT DO NOTHING", HASH, SOURCE.encode())
    await pool.execute(CITED, HASH, run_id)
    return run_id


async def naming(pool: asyncpg.Pool, run_id: UUID) -> dict[str, int]:
    """How many rows of which tables belong to the run."""
    found = {}
    for table in await pool.fetch(NAMING_RUNS):
        column = f"{table['name']}.{table['by']}"
        found[column] = await pool.fetchval(f"SELECT count(*) FROM {table['name']} WHERE {table['by']} = $1", run_id)
    return {column: count for column, count in found.items() if count}


async def test_a_deleted_run_is_gone_with_all_that_came_of_it(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses), "Deletes")
    run, kept = await ended(owner, pool), await ended(owner, pool, "What stays?")
    link = (await owner.post(f"/v1/runs/{run}/shares", {"days": 7})).json["token"]
    assert (await owner.post(f"/v1/runs/{run}/rating", {"stars": 3})).status < 300
    assert (await owner.get(f"/v1/shared/{link}")).status == 200
    assert len(await naming(pool, run)) >= 6
    used, asked = (await owner.get("/v1/quotas")).json["used"], (await owner.get("/v1/usage")).json["total"]
    assert (used["tokens"], asked["runs"], asked["tokens"]) == (2_000, 2, 2_000)

    assert (await owner.delete(f"/v1/runs/{run}")).status == 204
    assert await naming(pool, run) == {}
    assert (await owner.get(f"/v1/shared/{link}")).is_problem(404)
    for path in ("", "/report", "/export?format=md", "/evidence", "/events"):
        assert (await owner.get(f"/v1/runs/{run}{path}")).is_problem(404)
    assert [item["id"] for item in (await owner.get("/v1/runs")).json["items"]] == [str(kept)]
    assert (await owner.delete(f"/v1/runs/{run}")).is_problem(404)
    assert (await owner.get(f"/v1/snapshots/{HASH}")).status == 200, "the other run cites it too"
    [entry] = [item for item in (await owner.get("/v1/audit")).json["items"] if item["action"] == "run_deleted"]
    assert (entry["subject"], entry["detail"]) == (str(run), {})

    assert (await owner.get("/v1/quotas")).json["used"] == used, "deleting is no way around a limit"
    told = (await owner.get("/v1/usage")).json
    assert told["total"] == asked
    [line] = [line for line in told["lines"] if line["kind"] == "deleted"]
    assert (line["calls"], line["input_tokens"], line["output_tokens"]) == (1, 900, 100)


async def test_who_may_delete(new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool) -> None:
    owner, member, viewer, stranger = [await new_browser() for _ in range(4)]
    await owner.sign_up(next(addresses), "Roles")
    await stranger.sign_up(next(addresses), "Elsewhere")
    for who, role in ((member, "member"), (viewer, "viewer")):
        await who.accept(await owner.invite(next(addresses), role))
    of_owner, of_member = await ended(owner, pool), await ended(member, pool)
    assert (await stranger.delete(f"/v1/runs/{of_owner}")).is_problem(404)
    assert (await viewer.delete(f"/v1/runs/{of_owner}")).is_problem(403)
    refused = await member.delete(f"/v1/runs/{of_owner}")
    assert refused.is_problem(403)
    assert "only the person who asked" in refused.json["detail"]
    assert (await member.delete(f"/v1/runs/{of_member}")).status == 204
    assert (await owner.delete(f"/v1/runs/{of_owner}")).status == 204


async def test_what_something_else_needs_is_not_deleted(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses), "Waits")
    run = await ended(owner, pool)

    async def refused(word: str) -> None:
        reply = await owner.delete(f"/v1/runs/{run}")
        assert reply.is_problem(409), word
        assert word in reply.json["detail"]

    asked = {"name": "Weekly look", "from_run": str(run), "timing": {"cron": "0 8 * * mon"}}
    schedule = (await owner.post("/v1/schedules", asked)).json["id"]
    await refused("the schedule 'Weekly look' compares with it")
    assert (await owner.delete(f"/v1/schedules/{schedule}")).status < 300
    task = await pool.fetchval(QUEUED, run, "queued")
    await refused("asked about")
    await pool.execute("UPDATE report_tasks SET status = 'failed', finished_at = now() WHERE id = $1", task)
    for column, value, query, word in (
        ("made_for", "id", "{}", "a second report"),
        ("created_by", "NULL", f'{{"evidence_of": "{run}"}}', "another system"),
    ):
        statement = STARTED.format(column=column, value=value)
        other = await pool.fetchval(f"{statement} WHERE id = $1 RETURNING id", run, query)
        await refused(word)
        await pool.execute("UPDATE runs SET finished_at = now(), status = 'failed' WHERE id = $1", other)
    [made] = [row["id"] for row in await pool.fetch("SELECT id FROM runs WHERE made_for = $1", run)]
    assert f"delete the run {run}" in (await owner.delete(f"/v1/runs/{made}")).json["detail"]
    assert (await owner.delete(f"/v1/runs/{run}")).status == 204
    assert await pool.fetchval("SELECT count(*) FROM runs WHERE id = $1", made) == 0

    run = UUID(await owner.ask("What goes on?"))
    await refused("cancel it first")
    await RunLog(pool).set_status(run, RunStatus.CANCELLED)
    assert (await owner.delete(f"/v1/runs/{run}")).status == 204
