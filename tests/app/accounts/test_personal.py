"""A person's data: handed out whole, and gone when they go."""

import asyncio
from collections.abc import Iterator
from uuid import UUID

import asyncpg

from app.accounts.storage import personal
from tests.app.browser import PASSWORD
from tests.app.conftest import NewBrowser

TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"


async def traces(pool: asyncpg.Pool, *marks: str) -> dict[str, int]:
    """In which tables one of the marks stands, and in how many rows."""
    found = {}
    for table in [row["relname"] for row in await pool.fetch(TABLES)]:
        named = "EXISTS (SELECT FROM unnest($1::text[]) AS mark WHERE strpos(t::text, mark) > 0)"
        if count := await pool.fetchval(f"SELECT count(*) FROM {table} AS t WHERE {named}", list(marks)):
            found[table] = count
    return found


async def test_everything_about_a_person_is_handed_to_them(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner, other, email = await new_browser(), await new_browser(), next(addresses)
    me = await owner.sign_up(email, "First")
    await owner.sign_up(email, "Second")
    await other.accept(await owner.invite(next(addresses), "member"))
    await other.ask("What is not mine?")
    run = await owner.ask("What is mine?")
    key = (await owner.post("/v1/keys", {"name": "mine", "scopes": ["runs:read"]})).json
    await owner.send("PUT", "/v1/consent", json={"person": True})
    await owner.post("/v1/collections", {"name": "My papers"})
    await owner.post("/v1/schedules", {"name": "Mondays", "run": {"question": "What is new?"}, "timing": {"cron": "0 8 * * 1"}})
    await pool.execute(
        "INSERT INTO ratings (run_id, user_id, organisation_id, stars, comment, report_digest)"
        " SELECT id, created_by, organisation_id, 4, 'Well put', '' FROM runs WHERE id = $1::text::uuid",
        run,
    )
    await pool.execute(
        "INSERT INTO report_tasks (id, run_id, kind, base, request, created_by)"
        " SELECT gen_random_uuid(), id, 'question', 1, '{\"text\": \"And after?\"}', created_by FROM runs"
        " WHERE id = $1::text::uuid",
        run,
    )
    reply = await owner.get("/v1/me/export")
    told = reply.json
    assert [item["comment"] for item in told["ratings"]] == ["Well put"]
    assert [item["request"]["text"] for item in told["further_questions_and_changes"]] == ["And after?"]
    assert [[item["name"] for item in told[kind]] for kind in ("collections", "schedules")] == [["My papers"], ["Mondays"]]
    assert len(told["consents"]) == 1
    assert told["person"]["email"] == email
    assert [place["organisation"] for place in told["memberships"]] == ["First", "Second"]
    assert [(item["id"], item["query"]["question"]) for item in told["runs"]] == [(run, "What is mine?")]
    assert [item["name"] for item in told["keys"]] == ["mine"]
    assert {"signed_up", "key_made", "data_exported"} <= {item["action"] for item in told["actions"]}
    assert reply.headers["Content-Disposition"] == 'attachment; filename="rubrica-export.json"'
    assert "What is not mine?" not in reply.body.decode()
    assert key["key"].split("_", 2)[2] not in reply.body.decode()
    assert "argon2" not in reply.body.decode()
    assert told["person"]["id"] == me["user_id"]


async def test_who_is_erased_leaves_no_trace_and_their_work_stays_their_organisations(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner, leaver, email = await new_browser(), await new_browser(), next(addresses)
    await owner.sign_up(next(addresses), "Stays")
    await leaver.accept(await owner.invite(email, "admin"))
    user = (await leaver.get("/v1/me")).json["user_id"]
    run = await leaver.ask("What stays?")
    await leaver.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]})
    await leaver.post("/v1/runs", {"question": "Sent twice?"}, headers={"Idempotency-Key": "once"})
    await pool.execute("UPDATE users SET verified_at = now() WHERE email = $1", email)
    told = {"name": "Weekly", "run": {"question": "News?"}, "timing": {"cron": "0 8 * * 1"}}
    schedule = (await owner.post("/v1/schedules", told)).json["id"]
    await pool.execute("UPDATE schedules SET deliver_to = ARRAY[$2::text] WHERE id = $1::text::uuid", schedule, email)
    await pool.execute(
        "INSERT INTO deliveries (id, schedule_id, organisation_id, due_at, address)"
        " SELECT gen_random_uuid(), id, organisation_id, now(), deliver_to[1] FROM schedules WHERE id = $1::text::uuid",
        schedule,
    )
    await owner.post("/v1/collections", {"name": "For few", "access": {"everyone": False, "users": [user]}})
    await owner.patch(f"/v1/members/{user}", {"role": "owner"})
    assert (await leaver.sign_in(email, "a wrong password")).is_problem(401)
    alone = (await leaver.sign_up(email, "Goes"))["organisation"]["id"]
    gone = await leaver.ask("What goes?")
    assert {"users", "memberships", "sessions", "api_keys", "audit", "runs"} <= set(await traces(pool, user, email))
    assert (await leaver.post("/v1/me/erasure", {"password": "not the password"})).is_problem(401)
    assert (await leaver.post("/v1/me/erasure", {"password": PASSWORD})).status == 204
    assert await traces(pool, user, email, alone, gone) == {}
    assert (await leaver.get("/v1/me")).is_problem(401)
    assert (await owner.get(f"/v1/runs/{run}")).json["query"]["question"] == "What stays?"
    assert "person_erased" in {item["action"] for item in (await owner.get("/v1/audit")).json["items"]}
    assert (await leaver.sign_in(email)).is_problem(401)


WAITING = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"


async def test_of_two_owners_who_go_at_once_the_later_one_is_the_last(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner, other, member = [await new_browser() for _ in range(3)]
    email = next(addresses)
    first = UUID((await owner.sign_up(email, "Needs one"))["user_id"])
    for browser, role in ((other, "owner"), (member, "member")):
        await browser.accept(await owner.invite(next(addresses), role))
    second = UUID((await other.get("/v1/me")).json["user_id"])

    async def list_left(user: UUID) -> list[bool]:
        async with pool.acquire() as connection, connection.transaction():
            return [place.last_owner for place in await personal.list_organisations(connection, user)]

    async with pool.acquire() as connection, connection.transaction():
        assert [place.last_owner for place in await personal.list_organisations(connection, first)] == [False]
        later = asyncio.create_task(list_left(second))
        while not await pool.fetchval(WAITING):
            await asyncio.sleep(0.02)
        await personal.forget(connection, first, email)
    assert await later == [True]


async def test_the_last_owner_of_others_cannot_go(new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool) -> None:
    owner, member = await new_browser(), await new_browser()
    email = next(addresses)
    await owner.sign_up(email, "Needs me")
    await member.accept(await owner.invite(next(addresses), "member"))
    reply = await owner.post("/v1/me/erasure", {"password": PASSWORD})
    assert reply.is_problem(409)
    assert "Needs me" in reply.json["detail"]
    assert "users" in await traces(pool, email)
