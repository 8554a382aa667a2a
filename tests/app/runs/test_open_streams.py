"""A stream ends with the right to it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from uuid import UUID

import asyncpg

from app.accounts.nouns.token import digest_token
from app.accounts.storage import sessions
from app.domain.run import EventType, RunStatus
from app.http.services import Services
from app.runs.storage.run_log import RunLog
from tests.app.browser import Browser
from tests.app.conftest import NewBrowser
from tests.app.served_api import ApiClient


async def types(events: AsyncIterator[dict[str, str]]) -> list[str]:
    return [event["type"] async for event in events]


async def until_open(services: Services, count: int) -> None:
    while len(services.streams._open) < count:
        await asyncio.sleep(0.02)


async def test_a_revoked_key_and_an_ended_session_end_their_streams_and_no_others(
    new_browser: NewBrowser, addresses: Iterator[str], api: ApiClient, services: Services, run_log: RunLog, pool: asyncpg.Pool
) -> None:
    owner, elsewhere, email = await new_browser(), await new_browser(), next(addresses)
    await owner.sign_up(email)
    await elsewhere.sign_in(email)
    run = await owner.ask()
    keys = [(await owner.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]})).json for _ in range(3)]
    revoked, expired, kept = [{"Authorization": f"Bearer {made['key']}"} for made in keys]
    by_revoked, by_expired, by_kept = [
        asyncio.create_task(types(api.events(run, headers=sent))) for sent in (revoked, expired, kept)
    ]
    by_session, from_elsewhere = asyncio.create_task(types(owner.events(run))), asyncio.create_task(types(elsewhere.events(run)))
    await until_open(services, 5)

    await owner.delete(f"/v1/keys/{keys[0]['info']['id']}")
    await pool.execute("UPDATE api_keys SET expires_at = now() WHERE id = $1", UUID(keys[1]["info"]["id"]))
    assert await by_revoked == await by_expired
    assert "completed" not in str(await by_revoked)
    assert (await api.get(f"/v1/runs/{run}/events", headers=revoked)).is_problem(401)

    await exchanged(elsewhere, pool)
    await owner.delete("/v1/session")
    await services.streams.check()
    await by_session
    await run_log.append_event(UUID(run), EventType.WARNING, "search/s1", {"message": "still told"})
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    for others in (by_kept, from_elsewhere):
        assert (await others)[-2:] == ["warning", "status_changed"]
    assert not services.streams._open


async def exchanged(browser: Browser, pool: asyncpg.Pool) -> None:
    """The browser is given a newer token, as it is each hour; its streams began with the older."""
    assert browser.cookie is not None
    assert await sessions.renew(pool, digest_token(browser.cookie.value), digest_token("newer"), timedelta(0))


async def test_who_may_not_read_reports_gets_no_text_of_one_that_is_being_written(
    new_browser: NewBrowser, api: ApiClient, run_log: RunLog
) -> None:
    owner = await new_browser()
    await owner.sign_up("writer@streams.example")
    run = await owner.ask()
    written = {"section": 1, "heading": "Revenue", "markdown": "Duties paid for the state [1].", "citations": [{"n": 1}]}
    await run_log.append_event(UUID(run), EventType.SECTION_WRITTEN, "report/section/1", written)
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    told = []
    for scopes in (["runs:read"], ["runs:read", "reports:read"]):
        made = (await owner.post("/v1/keys", {"name": "k", "scopes": scopes})).json
        events = [event async for event in api.events(run, headers={"Authorization": f"Bearer {made['key']}"})]
        told.append(next(event["payload"] for event in events if event["type"] == "section_written"))
    assert told == [{"section": 1, "heading": ""}, written]
