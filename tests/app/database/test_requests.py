"""Who may ask, what a key is good for, and that requests of one organisation find nothing of another's."""

import asyncio
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from app.accounts.nouns.access import AccessScope, Role
from app.accounts.nouns.api_key import ApiKey
from app.domain.run import EventType
from app.http.asgi import build_routes
from app.http.route_table import list_routes
from app.http.services import Services
from app.runs.storage.run_log import RunLog
from tests.app.database.conftest import OrganisationWithRun, add_member
from tests.app.served_api import ApiClient, serve_api
from tests.support.stage_opening import open_stage

# What answers without knowing who asks. Each of these is a decision.
PUBLIC = {
    *("GET /health", "GET /v1/shared/{token:str}", "POST /v1/sign-up", "POST /v1/session", "POST /v1/invitations/accept"),
    *("GET /v1/oidc/start", "GET /v1/oidc/callback"),
    *("POST /v1/verifications", "POST /v1/password-resets", "POST /v1/password-resets/accept"),
    *("GET /v1/unsubscribe/{letter_id:uuid}", "POST /v1/unsubscribe/{letter_id:uuid}"),
}


def bearer(text: object) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


async def test_a_request_without_a_good_key_is_refused(
    ours: ApiClient, houses: tuple[OrganisationWithRun, OrganisationWithRun], pool: asyncpg.Pool
) -> None:
    key = houses[0].key
    wrong = (f"{key}x", ApiKey(uuid4(), key.secret), ApiKey(key.id, houses[1].key.secret), "rbk_", "x", "", key.secret, "rbk_é_é")
    for given in wrong:
        reply = await ours.get("/v1/runs", headers=bearer(str(given)))
        assert reply.is_problem(401), given
        assert reply.headers["WWW-Authenticate"] == "Bearer"
        assert key.secret not in reply.body.decode()
    for headers in ({"Authorization": f"Basic {key}"}, {"Authorization": str(key)}):
        assert (await ours.get("/v1/runs", headers=headers)).is_problem(401)
    assert (await ours.get("/v1/runs")).status == 200
    assert (await ours.get("/health", headers=bearer("rbk_nonsense"))).status in (200, 503)
    for change in ("expires_at = now() - interval '1 second'", "revoked_at = now()"):
        await pool.execute("UPDATE api_keys SET expires_at = NULL, revoked_at = NULL WHERE id = $1", key.id)
        assert (await ours.get("/v1/runs")).status == 200
        await pool.execute(f"UPDATE api_keys SET {change} WHERE id = $1", key.id)
        assert (await ours.get("/v1/runs")).is_problem(401)
    await pool.execute("UPDATE api_keys SET revoked_at = NULL WHERE id = $1", key.id)
    await pool.execute("DELETE FROM memberships WHERE organisation_id = $1", houses[0].organisation)
    assert (await ours.get("/v1/runs")).is_problem(401)


async def test_a_key_is_stored_hashed_and_its_use_is_noted_once_a_minute(
    ours: ApiClient, houses: tuple[OrganisationWithRun, OrganisationWithRun], pool: asyncpg.Pool
) -> None:
    key = houses[0].key
    await ours.get("/v1/runs")
    stored = await pool.fetchrow("SELECT k::text AS whole, last_used_at FROM api_keys k WHERE id = $1", key.id)
    assert key.secret not in stored["whole"]
    assert key.secret.encode().hex() not in stored["whole"]
    assert stored["last_used_at"] is not None
    used = "SELECT last_used_at FROM api_keys WHERE id = $1"
    await ours.get("/v1/runs")
    assert await pool.fetchval(used, key.id) == stored["last_used_at"]
    await pool.execute("UPDATE api_keys SET last_used_at = now() - interval '61 seconds' WHERE id = $1", key.id)
    await ours.get("/v1/runs")
    assert await pool.fetchval(used, key.id) >= stored["last_used_at"]


async def test_roles_and_scopes_limit_what_may_be_done(
    services: Services, houses: tuple[OrganisationWithRun, OrganisationWithRun], pool: asyncpg.Pool
) -> None:
    organisation, run = houses[0].organisation, houses[0].run
    keys = {
        "viewer": await add_member(pool, organisation, Role.VIEWER),
        "member": await add_member(pool, organisation, Role.MEMBER),
        "reads reports": await add_member(pool, organisation, Role.OWNER, (AccessScope.REPORTS_READ,)),
    }
    may = {"viewer": (200, 200, 403), "member": (200, 200, 201), "reads reports": (403, 200, 403)}
    for name, key in keys.items():
        async with serve_api(services, key) as client:
            replies = [
                await client.get("/v1/runs"),
                await client.get(f"/v1/runs/{run}/report"),
                await client.post("/v1/runs", {"question": "May I?"}),
            ]
        assert tuple(reply.status for reply in replies) == may[name], name
        assert all(reply.is_problem(403) for reply in replies if reply.status >= 400)


async def test_another_organisations_run_is_not_there(
    ours: ApiClient, houses: tuple[OrganisationWithRun, OrganisationWithRun], run_log: RunLog
) -> None:
    mine, other = houses
    before = [row async for row in ours.events(str(mine.run))]
    assert len(before) > 4
    run = f"/v1/runs/{other.run}"
    for path in (run, f"{run}/report", f"{run}/evidence", f"{run}/tape", f"{run}/events", f"/v1/snapshots/{other.snapshot}"):
        reply = await ours.get(path)
        assert reply.is_problem(404), path
        assert other.text not in reply.body.decode()
    subtask = {"id": "s2", "title": "T", "question": "Q?"}
    writes: list[tuple[str, str, Any]] = [
        *(("POST", f"{run}/{name}", None) for name in ("pause", "resume", "cancel")),
        ("POST", f"{run}/notes", {"text": "hello"}),
        ("PUT", f"{run}/budget", {"max_tokens": 1}),
        ("PUT", f"{run}/plan", {"subtasks": [subtask]}),
        ("POST", f"{run}/plan/subtasks", subtask),
        ("DELETE", f"{run}/plan/subtasks/s1", None),
    ]
    for method, path, body in writes:
        assert (await ours.send(method, path, json=body)).is_problem(404), path
    assert (await ours.get(f"/v1/runs?before={other.run}")).is_problem(400)
    assert [item["id"] for item in (await ours.get("/v1/runs")).json["items"]] == [str(mine.run)]
    assert (await ours.get(f"/v1/snapshots/{mine.snapshot}")).body.decode() == mine.text


async def test_a_source_that_both_cite_is_read_by_both_and_by_no_third(
    ours: ApiClient, houses: tuple[OrganisationWithRun, OrganisationWithRun], pool: asyncpg.Pool
) -> None:
    mine, other = houses
    log = RunLog(pool)
    opened = await open_stage(log, mine.run, "search/s2", None, "Again")
    assert await log.missing_snapshots([other.snapshot]) == set()
    assert await log.close_stage(mine.run, "search/s2", opened.attempt, b"{}", [], {}, [other.snapshot])
    assert (await ours.get(f"/v1/snapshots/{other.snapshot}")).body.decode() == other.text


async def test_streams_of_two_organisations_at_once_carry_their_own_runs_only(
    services: Services, houses: tuple[OrganisationWithRun, OrganisationWithRun], run_log: RunLog
) -> None:
    async with serve_api(services, houses[0].key) as first, serve_api(services, houses[1].key) as second:
        runs = [await client.ask("Which?") for client in (first, second)]
        watching = [asyncio.create_task(_collect(client, run)) for client, run in zip((first, second), runs, strict=True)]
        await asyncio.sleep(0.1)
        for number in range(20):
            for run in runs:
                await run_log.append_event(run, EventType.WARNING, "", {"message": f"{run} {number}"})  # type: ignore[arg-type]
        for client, run in zip((first, second), runs, strict=True):
            await client.post(f"/v1/runs/{run}/cancel")
        for run, events in zip(runs, await asyncio.gather(*watching), strict=True):
            assert {event["run_id"] for event in events} == {run}
            assert sum(event["type"] == "warning" for event in events) == 20


async def _collect(client: ApiClient, run: str) -> list[dict[str, Any]]:
    return [event async for event in client.events(run)]


async def test_every_route_says_what_it_needs(services: Services) -> None:
    routes = list_routes(build_routes(services))
    assert len(routes) > 40
    for route in routes:
        named = route.public or (route.needs and route.needs <= set(AccessScope))
        assert named, f"{route.name} declares neither `needs` nor `public`"
    assert {route.name for route in routes if route.public} == PUBLIC


@pytest.mark.parametrize("path", ["/v1/runs", "/v1/tools", "/v1/runs/7d1c3b1e-0c0c-4f4e-9d5a-3c8a5f0f6b11/events"])
async def test_options_tell_nothing_but_methods(services: Services, path: str) -> None:
    async with serve_api(services) as client:
        reply = await client.send("OPTIONS", path, headers=bearer("none"))
        assert (reply.status, reply.body) == (204, b"")
