"""Signing up, in and out, with a browser's eyes and an attacker's."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from math import inf
from uuid import UUID

import asyncpg
import pytest
from argon2 import PasswordHasher

from app.accounts.nouns.token import digest_token
from app.accounts.storage import access, sessions
from app.http.services import Services
from tests.app.browser import PASSWORD, open_browser
from tests.app.conftest import NewBrowser
from tests.app.served_api import ApiClient, serve_api

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


async def test_from_sign_up_to_sign_out(new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool) -> None:
    browser, email = await new_browser(), next(addresses)
    assert (await browser.get("/v1/me")).is_problem(401)
    me = await browser.sign_up(email.upper())
    assert (me["email"], me["organisation"]["role"], me["key_id"]) == (email, "owner", None)
    cookie = browser.cookie
    assert cookie is not None
    stated = (await browser.sign_in(email)).headers["Set-Cookie"].lower()
    assert all(word in stated for word in ("httponly", "samesite=lax", "path=/", "max-age=2592000"))
    cookie = browser.cookie
    assert cookie is not None
    assert (await browser.get("/v1/runs")).json["items"] == []
    run = await browser.ask("Is this mine?")
    assert await pool.fetchval("SELECT created_by::text FROM runs WHERE id = $1::text::uuid", run) == me["user_id"]
    stored = await pool.fetch("SELECT s::text AS row FROM sessions s")
    assert all(cookie.value not in row["row"] for row in stored)
    assert (await browser.delete("/v1/session")).status == 204
    assert browser.cookie is None
    stale = {"Cookie": f"rubrica_session={cookie.value}"}
    assert (await (await new_browser()).get("/v1/me", headers=stale)).is_problem(401)
    assert (await browser.sign_in(email)).status == 200
    assert browser.cookie is not None
    assert browser.cookie.value != cookie.value
    assert [item["id"] for item in (await browser.get("/v1/runs")).json["items"]] == [run]


async def test_a_wrong_password_and_an_unknown_person_look_the_same(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    browser, email = await new_browser(), next(addresses)
    await browser.sign_up(email)
    took: dict[str, float] = defaultdict(lambda: inf)
    bodies = set()
    for name, given in 3 * (("known", email), ("unknown", next(addresses))):
        began = time.process_time()  # the server is a part of this process; what others take of the machine does not count
        reply = await browser.sign_in(given, "not the password")
        took[name] = min(took[name], time.process_time() - began)
        assert reply.is_problem(401)
        bodies.add(reply.body)
    assert len(bodies) == 1
    assert 0.2 < took["unknown"] / took["known"] < 5


@pytest.mark.parametrize(("proxies", "noted"), [((), "127.0.0.1"), (("127.0.0.0/8",), "203.0.113.9")])
async def test_only_a_configured_proxy_says_for_whom_it_asks(
    services: Services, fresh_buckets: None, addresses: Iterator[str], proxies: tuple[str, ...], noted: str
) -> None:
    email = next(addresses)
    async with serve_api(services, proxies=proxies) as api, open_browser(api.address) as browser:
        await browser.sign_up(email)
        told = {"X-Forwarded-For": "203.0.113.9"}
        assert (await browser.post("/v1/session", {"email": email, "password": PASSWORD}, headers=told)).status == 200
        entry = (await browser.get("/v1/audit?action=signed_in")).json["items"][0]
    assert entry["address"] == noted


async def test_what_is_no_password_or_address_is_refused(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    browser = await new_browser()
    good = {"organisation": "O", "email": f"Charles.Babbage.{next(addresses)}", "name": "N", "password": "abcd" * 3}
    itself = (good["email"], good["email"].partition("@")[0])
    bad = [
        *({"password": given} for given in ("short", "abcabcabcabcabca", *itself, "x" * 201)),
        *(
            {"email": given}
            for given in ("nobody", "@", "a b@example.org", "a@b\r\nX: y", "", "a@b.org,c@d.org", "<a@b.org>", "a@b@c.org")
        ),
        *({"name": given} for given in ("", " ", "a\u202eb", "x" * 101)),
        {"role": "owner"},
    ]
    for change in bad:
        reply = await browser.post("/v1/sign-up", good | change)
        assert reply.is_problem(400), change
        assert str(change.get("password", "no such text")) not in reply.body.decode()
    assert browser.cookie is None
    assert (await browser.post("/v1/sign-up", good)).status == 201


async def test_another_sites_page_cannot_use_the_cookie(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    browser = await new_browser()
    await browser.sign_up(next(addresses))
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        assert (await browser.post("/v1/runs", {"question": "Whose?"}, headers=headers)).is_problem(403)
    assert (await browser.get("/v1/runs")).json["items"] == []


async def test_a_session_ages_renews_and_ends(new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool) -> None:
    browser, late = await new_browser(), await new_browser()
    mine = "WHERE user_id = $1::text::uuid"
    me = await browser.sign_up(next(addresses))
    first = browser.cookie
    assert first is not None
    await browser.get("/v1/me")
    assert browser.cookie is not None
    assert browser.cookie.value == first.value
    await pool.execute(f"UPDATE sessions SET renewed_at = now() - interval '2 hours' {mine}", me["user_id"])
    await browser.get("/v1/me")
    second = browser.cookie
    assert second is not None
    assert second.value != first.value
    stale = {"Cookie": f"rubrica_session={first.value}"}
    assert "Set-Cookie" not in (await late.get("/v1/me", headers=stale)).headers, "an old token gives no new one again"
    ends = await pool.fetch(f"SELECT expires_at FROM sessions {mine}", me["user_id"])
    assert len(ends) == 2
    assert ends[0] == ends[1], "an open page goes on with the token that it began with"
    assert (await browser.get("/v1/runs")).status == 200
    await pool.execute(f"UPDATE sessions SET seen_at = now() - interval '8 days' {mine}", me["user_id"])
    assert (await browser.get("/v1/runs")).is_problem(401)
    assert (await late.get("/v1/runs", headers=stale)).is_problem(401)


@pytest.mark.parametrize("leaving", ["older", "newer"])
async def test_signing_out_ends_the_tokens_before_and_after_an_exchange_and_no_other_session(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool, leaving: str
) -> None:
    browser, elsewhere, raw, email = await new_browser(), await new_browser(), await new_browser(), next(addresses)
    await browser.sign_up(email)
    await elsewhere.sign_in(email)
    tokens = {}
    for age in ("older", "newer"):
        assert browser.cookie is not None
        tokens[age] = {"Cookie": f"rubrica_session={browser.cookie.value}"}
        await pool.execute("UPDATE sessions SET renewed_at = now() - interval '2 hours'")
        await browser.get("/v1/me")
    assert len({token["Cookie"] for token in tokens.values()}) == 2
    for token in tokens.values():
        assert (await raw.get("/v1/runs", headers=token)).status == 200
    assert (await raw.send("DELETE", "/v1/session", headers=tokens[leaving])).status == 204
    for token in tokens.values():
        assert (await raw.get("/v1/runs", headers=token)).is_problem(401)
    assert (await browser.get("/v1/runs")).is_problem(401), "nor does the newest token go on"
    assert (await elsewhere.get("/v1/runs")).status == 200


@pytest.mark.parametrize("everywhere", [False, True])
async def test_an_exchange_under_way_does_not_outlive_the_end_of_its_session(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool, everywhere: bool
) -> None:
    browser = await new_browser()
    me = await browser.sign_up(next(addresses))
    assert browser.cookie is not None
    old = digest_token(browser.cookie.value)

    async def end() -> None:
        async with pool.acquire() as other, other.transaction():
            await (access.end_access(other, UUID(me["user_id"])) if everywhere else sessions.close(other, old))

    async with pool.acquire() as connection, connection.transaction():
        assert await sessions.renew(connection, old, digest_token("newer"), timedelta(0))
        ending = asyncio.create_task(end())
        while not await pool.fetchval(WAITING):
            await asyncio.sleep(0.02)
    await ending
    assert not await pool.fetchval("SELECT count(*) FROM sessions WHERE user_id = $1::text::uuid", me["user_id"])


async def test_a_new_password_ends_every_other_session(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    here, there, email = await new_browser(), await new_browser(), next(addresses)
    await here.sign_up(email)
    assert (await there.sign_in(email)).status == 200
    changed = {"current": PASSWORD, "new": "a wholly different secret"}
    assert (await here.post("/v1/me/password", changed | {"current": "wrong wrong"})).is_problem(401)
    assert (await here.post("/v1/me/password", changed)).status == 200
    assert (await here.get("/v1/me")).status == 200
    assert (await there.get("/v1/me")).is_problem(401)
    assert (await there.sign_in(email)).is_problem(401)
    assert (await there.sign_in(email, changed["new"])).status == 200


async def test_a_password_that_was_hashed_by_older_parameters_is_hashed_anew_at_the_next_sign_in(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    browser, email = await new_browser(), next(addresses)
    await browser.sign_up(email)
    first = await pool.fetchval("SELECT password_hash FROM users WHERE email = $1", email)
    assert (await browser.sign_in(email)).status == 200
    assert await pool.fetchval("SELECT password_hash FROM users WHERE email = $1", email) == first, "nothing to renew"
    dated = PasswordHasher(time_cost=2, memory_cost=8_192, parallelism=1).hash(PASSWORD)
    await pool.execute("UPDATE users SET password_hash = $2 WHERE email = $1", email, dated)
    assert (await browser.sign_in(email)).status == 200
    renewed = await pool.fetchval("SELECT password_hash FROM users WHERE email = $1", email)
    assert renewed not in (first, dated)
    assert "m=47104,t=1" in renewed
    assert (await browser.sign_in(email)).status == 200


async def test_signing_up_with_an_account_makes_a_second_organisation(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    browser, thief, email = await new_browser(), await new_browser(), next(addresses)
    first = await browser.sign_up(email, "First")
    taken = {"organisation": "Theft", "email": email, "name": "Eve", "password": "another password entirely"}
    assert (await thief.post("/v1/sign-up", taken)).is_problem(401)
    second = await browser.sign_up(email, "Second")
    assert [place["name"] for place in second["organisations"]] == ["First", "Second"]
    assert second["user_id"] == first["user_id"]
    run = await browser.ask("In the second?")
    reply = await browser.sign_in(email, organisation=first["organisation"]["id"])
    assert reply.json["organisation"]["name"] == "First"
    assert (await browser.get(f"/v1/runs/{run}")).is_problem(404)


async def test_a_form_that_is_sent_twice_at_once_makes_one_account(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    email, one, other, owner = next(addresses), await new_browser(), await new_browser(), await new_browser()
    new = {"organisation": "Twice", "email": email, "name": "Ada", "password": PASSWORD}
    replies = await asyncio.gather(one.post("/v1/sign-up", new), other.post("/v1/sign-up", new))
    assert {reply.status for reply in replies} in ({201}, {201, 409}), [reply.body for reply in replies]
    assert await pool.fetchval("SELECT count(*) FROM users WHERE email = $1", email) == 1
    await owner.sign_up(next(addresses))
    invited = await owner.invite(next(addresses), "member")
    replies = await asyncio.gather(one.accept(invited), other.accept(invited))
    assert sorted(reply.status for reply in replies) == [200, 400], "an invitation is good once"


async def test_a_key_says_who_it_acts_for(api: ApiClient) -> None:
    me = (await api.get("/v1/me")).json
    assert me["organisation"]["name"] == "Local"
    assert me["key_id"] == "00000000-0000-4000-8000-00000000000a"
    assert "runs:write" in me["scopes"]
