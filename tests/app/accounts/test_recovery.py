"""What a thief of an account has, and what is left of it when its password is changed or reset."""

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import asyncpg
from aiosmtpd.controller import Controller

from app.accounts.nouns.token import digest_token
from app.accounts.service.policy import AccountPolicy, IdentityProvider
from app.http.services import open_services
from tests.app.accounts.conftest import token_in
from tests.app.accounts.identity_provider import CLIENT, SECRET, serve_provider
from tests.app.accounts.test_addresses import mail_to
from tests.app.browser import PASSWORD, Browser, open_browser
from tests.app.conftest import NewBrowser
from tests.app.served_api import InMemoryRuns, serve_api

NEW = "another long enough password"
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def make_key(browser: Browser, name: str, scopes: tuple[str, ...] = ("runs:read",), **options: Any) -> tuple[str, str]:
    """Make a key; return its id and the key."""
    made = await browser.post("/v1/keys", {"name": name, "scopes": scopes}, **options)
    assert made.status == 201, made.body
    return made.json["info"]["id"], made.json["key"]


async def list_access(browser: Browser) -> list[dict[str, Any]]:
    found = await browser.get("/v1/me/access")
    assert found.status == 200, found.body
    return list(found.json["items"])


async def list_actions(browser: Browser) -> list[str]:
    return [entry["action"] for entry in (await browser.get("/v1/audit?limit=100")).json["items"]]


async def test_after_a_reset_nothing_that_a_thief_made_opens_the_account(
    browsers: tuple[Browser, Browser], box: Controller, addresses: Iterator[str], api_urls: tuple[str, str]
) -> None:
    (thief, owner), email, letterbox = browsers, next(addresses), box.handler
    first = (await owner.sign_up(email))["organisation"]["id"]
    await owner.post("/v1/verifications", {"token": token_in(await mail_to(letterbox, email), "verify")})
    second = (await owner.sign_up(email, "The second"))["organisation"]["id"]
    keys = []
    for place in (first, second):
        assert (await thief.sign_in(email, organisation=place)).status == 200
        keys.append((await make_key(thief, "thief's", ("runs:read", "keys:write")))[1])
        keys.append((await make_key(thief, "made by it", headers=bearer(keys[-1])))[1])
    accomplice = next(addresses)
    assert (await thief.post("/v1/invitations", {"email": accomplice, "role": "owner"})).status == 201
    invitation = token_in(await mail_to(letterbox, accomplice), "join")
    await thief.post("/v1/password-resets", {"email": email})
    unused = token_in(await mail_to(letterbox, email, 2), "reset")
    await owner.post("/v1/password-resets", {"email": email})
    token = token_in(await mail_to(letterbox, email, 3), "reset")
    assert (await owner.post("/v1/password-resets/accept", {"token": token, "password": NEW})).status == 200
    for key in keys:
        assert (await owner.get("/v1/runs", headers=bearer(key))).is_problem(401)
    assert (await thief.get("/v1/me")).is_problem(401)
    assert (await thief.sign_in(email)).is_problem(401)
    assert (await thief.accept(invitation)).is_problem(400)
    assert (await thief.post("/v1/password-resets/accept", {"token": unused, "password": "and another one"})).is_problem(400)
    assert [(item["kind"], item["current"]) for item in await list_access(owner)] == [("session", True)]
    for place in (first, second):
        if place == second:
            assert (await owner.sign_in(email, NEW, organisation=place)).status == 200
        actions = await list_actions(owner)
        assert (actions.count("key_revoked"), actions.count("password_reset")) == (2, 1)
        assert "session_ended" in actions


async def test_who_changes_the_password_is_shown_what_is_open_and_names_what_stays(
    new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    here, phone, thief, email = await new_browser(), await new_browser(), await new_browser(), next(addresses)
    await here.sign_up(email, "Mine")
    await phone.sign_in(email)
    mine, kept_key = await make_key(phone, "of mine")
    known = {item["id"] for item in await list_access(here)}
    assert len(known) == 3
    await thief.sign_in(email)
    _, stolen = await make_key(thief, "a thief's")
    invited = await thief.invite(next(addresses), "owner")
    hook = {"url": "https://thief.example/hook", "events": []}
    assert (await thief.post("/v1/webhooks", hook)).status == 201
    listed = await list_access(here)
    assert [(item["kind"], item["name"]) for item in listed if item["id"] not in known] == [
        ("session", ""),
        ("key", "a thief's"),
        ("invitation", listed[-2]["name"]),
        ("webhook", hook["url"]),
    ]
    assert {item["organisation"] for item in listed} == {"Mine"}
    assert {item["address"] for item in listed if item["kind"] == "session"} == {"127.0.0.1"}
    assert [item["kind"] for item in listed if item["current"]] == ["session"]
    old = here.cookie
    assert old is not None
    changed = {"current": PASSWORD, "new": NEW}
    assert (await here.post("/v1/me/password", changed | {"current": "wrong wrong", "keep": []})).is_problem(401)
    assert (await thief.get("/v1/me")).status == 200, "nothing ends for a wrong password"
    assert (await here.post("/v1/me/password", changed | {"keep": sorted(known)})).status == 200
    assert [(await browser.get("/v1/me")).status for browser in (here, phone, thief)] == [200, 200, 401]
    stale = {"Cookie": f"rubrica_session={old.value}"}
    assert (await thief.get("/v1/me", headers=stale)).is_problem(401), "who copied the cookie is out too"
    assert [(await phone.get("/v1/runs", headers=bearer(key))).status for key in (kept_key, stolen)] == [200, 401]
    assert (await thief.accept(invited)).is_problem(400)
    left = await list_access(here)
    assert [item["kind"] for item in left] == ["session", "session", "key", "webhook"]
    assert mine in {item["id"] for item in left}
    ended = [line for line in await list_actions(here) if line in ("session_ended", "key_revoked", "invitation_withdrawn")]
    assert sorted(ended) == ["invitation_withdrawn", "key_revoked", "session_ended"]
    assert (await here.post("/v1/me/password", {"current": NEW, "new": PASSWORD})).status == 200
    assert [item["kind"] for item in await list_access(here)] == ["session", "webhook"], "by default all else ends"


async def test_a_program_that_changes_the_password_goes_on_with_its_key(
    new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    browser, email = await new_browser(), next(addresses)
    await browser.sign_up(email)
    scopes = ("account:read", "account:write")
    (mine, key), (_, other) = await make_key(browser, "this", scopes), await make_key(browser, "that", scopes)
    listed = (await browser.get("/v1/me/access", headers=bearer(key))).json["items"]
    assert [item["id"] for item in listed if item["current"]] == [mine]
    changed = {"current": PASSWORD, "new": NEW}
    assert (await browser.post("/v1/me/password", changed, headers=bearer(key))).status == 200
    assert [(await browser.get("/v1/me", headers=bearer(each))).status for each in (key, other)] == [200, 401]


async def test_what_was_kept_is_ones_own(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    owner, colleague, email = await new_browser(), await new_browser(), next(addresses)
    await owner.sign_up(email)
    await colleague.accept(await owner.invite(next(addresses), "admin"))
    _, theirs = await make_key(colleague, "theirs")
    assert {item["kind"] for item in await list_access(owner)} == {"session"}
    assert (await owner.post("/v1/me/password", {"current": PASSWORD, "new": NEW})).status == 200
    assert (await colleague.get("/v1/me")).status == 200
    assert (await colleague.get("/v1/runs", headers=bearer(theirs))).status == 200


async def test_a_link_to_a_new_password_ends_when_the_password_changes(
    browsers: tuple[Browser, Browser], box: Controller, addresses: Iterator[str]
) -> None:
    (owner, thief), email, letterbox = browsers, next(addresses), box.handler
    await owner.sign_up(email)
    verify = token_in(await mail_to(letterbox, email), "verify")
    await thief.post("/v1/password-resets", {"email": email})
    reset = token_in(await mail_to(letterbox, email, 2), "reset")
    assert (await owner.post("/v1/me/password", {"current": PASSWORD, "new": NEW})).status == 200
    assert (await thief.post("/v1/password-resets/accept", {"token": reset, "password": PASSWORD})).is_problem(400)
    assert (await owner.sign_in(email, NEW)).status == 200
    assert (await owner.post("/v1/verifications", {"token": verify})).status == 204, "it proves the address, and opens nothing"


async def test_an_identity_is_listed_kept_and_ended(
    api_urls: tuple[str, str], workflows: InMemoryRuns, fresh_buckets: None, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    email = next(addresses)
    async with serve_provider() as provider:
        policy = AccountPolicy(
            provider=IdentityProvider(provider.issuer, CLIENT, SECRET),
            public_url="http://api.example",
            page_url="https://p.example",
        )
        provider.person = {"sub": "s-1", "email": email, "email_verified": True, "name": "Ada"}
        async with (
            open_services(*api_urls, workflows, accounts_policy=policy) as services,
            serve_api(services) as api,
            open_browser(api.address) as browser,
        ):

            async def come() -> None:
                start = await browser.get("/v1/oidc/start", allow_redirects=False)
                brought = provider.sign_in(start.headers["Location"])
                done = await browser.get("/v1/oidc/callback", params=brought, allow_redirects=False)
                assert (done.status, urlsplit(done.headers["Location"]).netloc) == (302, "p.example"), done.body

            await come()
            [identity] = [item for item in await list_access(browser) if item["kind"] == "identity"]
            assert (identity["name"], identity["organisation_id"]) == (provider.issuer, None)
            first = {"new": PASSWORD, "keep": [identity["id"]]}
            assert (await browser.post("/v1/me/password", first)).status == 200
            assert [item["kind"] for item in await list_access(browser)] == ["session", "identity"]
            assert (await browser.post("/v1/me/password", {"current": PASSWORD, "new": NEW})).status == 200
            assert [item["kind"] for item in await list_access(browser)] == ["session"]
            assert "identity_unlinked" in await list_actions(browser)
            provider.person = {"sub": "s-1", "email": next(addresses), "email_verified": True, "name": "Eve"}
            await come()
            assert (await browser.get("/v1/me")).json["email"] != email, "the provider's account opens this one no more"


async def test_a_key_that_is_being_made_while_the_password_changes_ends_too(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner, thief, email = await new_browser(), await new_browser(), next(addresses)
    me = await owner.sign_up(email)
    await thief.sign_in(email)
    async with pool.acquire() as connection, connection.transaction():
        # The making waits with its entry in the audit log, which names the person.
        await connection.execute("SELECT FROM users WHERE id = $1 FOR UPDATE", UUID(me["user_id"]))
        making = asyncio.create_task(make_key(thief, "late"))
        while not await pool.fetchval(WAITING):
            await asyncio.sleep(0.02)
        changing = asyncio.create_task(owner.post("/v1/me/password", {"current": PASSWORD, "new": NEW}))
        while await pool.fetchval(WAITING) < 2:
            await asyncio.sleep(0.02)
    _, key = await making
    assert (await changing).status == 200
    assert (await owner.get("/v1/runs", headers=bearer(key))).is_problem(401)


async def test_a_request_that_was_begun_before_and_is_whole_afterwards_does_nothing(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner, thief, email = await new_browser(), await new_browser(), next(addresses)
    await owner.sign_up(email)
    await thief.sign_in(email)
    assert thief.cookie is not None
    at, body = urlsplit(thief.address), b'{"name": "slow", "scopes": ["runs:read"]}'
    seen = "UPDATE sessions SET seen_at = now() - interval '1 hour' WHERE token_hash = $1"
    noted = "SELECT seen_at > now() - interval '1 minute' FROM sessions WHERE token_hash = $1"
    token = digest_token(thief.cookie.value)
    await pool.execute(seen, token)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    head = (
        f"POST /v1/keys HTTP/1.1\r\nHost: {at.netloc}\r\nCookie: rubrica_session={thief.cookie.value}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode() + body[:9])
    await writer.drain()
    while not await pool.fetchval(noted, token):  # the API has found out who asks
        await asyncio.sleep(0.02)
    await asyncio.sleep(1.1)
    assert (await owner.post("/v1/me/password", {"current": PASSWORD, "new": NEW})).status == 200
    writer.write(body[9:])
    await writer.drain()
    assert b" 401 " in (await reader.read()).splitlines()[0]
    writer.close()
    assert (await owner.get("/v1/keys")).json["items"] == []
