"""Signing in with an identity provider, honest and not."""

from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from app.accounts.api.oidc import landing_address_of
from app.accounts.service.policy import AccountPolicy, IdentityProvider
from app.http.services import open_services
from tests.app.accounts.identity_provider import CLIENT, SECRET, FakeIdentityProvider, serve_provider
from tests.app.browser import Browser, open_browser
from tests.app.conftest import NewBrowser
from tests.app.served_api import ApiReply, InMemoryRuns, serve_api

LIES = ("signature", "audience", "expired", "nonce", "no nonce", "issuer", "unsigned", "shared secret")


@pytest.fixture
async def provider() -> AsyncIterator[FakeIdentityProvider]:
    async with serve_provider() as served:
        yield served


@pytest.fixture
async def browser(provider: FakeIdentityProvider, api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[Browser]:
    known = IdentityProvider(provider.issuer, CLIENT, SECRET)
    policy = AccountPolicy(sign_up=False, public_url="http://api.example", page_url="http://page.example", provider=known)
    async with (
        open_services(*api_urls, workflows, accounts_policy=policy) as services,
        serve_api(services) as client,
        open_browser(client.address) as made,
    ):
        yield made


async def come_back(browser: Browser, provider: FakeIdentityProvider, wanted: str = "", **changes: str) -> ApiReply:
    """To the provider and back, with the query changed on the way."""
    gone = await browser.get("/v1/oidc/start", params={"back": wanted}, allow_redirects=False)
    assert gone.status == 302
    assert gone.headers["Location"].startswith(f"{provider.issuer}/authorize?")
    query = provider.sign_in(gone.headers["Location"]) | changes
    return await browser.get("/v1/oidc/callback", params=query, allow_redirects=False)


async def test_there_and_back(
    browser: Browser, provider: FakeIdentityProvider, new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner, email = await new_browser(), next(addresses)
    await owner.sign_up(next(addresses), "Hosts")
    provider.person = {"sub": "person-1", "email": email.upper(), "email_verified": True, "name": "Grace"}
    assert (await come_back(browser, provider)).is_problem(403), "sign-up is closed, and nobody has invited her"
    await owner.invite(email, "admin")
    back = await come_back(browser, provider)
    assert (back.status, back.headers["Location"]) == (302, "http://page.example")
    assert set(browser.list_cookies()) == {"rubrica_session"}
    me = (await browser.get("/v1/me")).json
    assert (me["email"], me["name"], me["organisation"]["name"], me["organisation"]["role"]) == (email, "Grace", "Hosts", "admin")
    provider.person |= {"email": next(addresses)}
    await come_back(browser, provider)
    assert (await browser.get("/v1/me")).json["user_id"] == me["user_id"], "who she is to the provider outranks her address"
    provider.person = {"sub": "person-1", "email": email, "email_verified": True}
    assert (await browser.sign_in(email, "any password at all")).is_problem(401), "she has no password"
    assert await pool.fetchval("SELECT count(*) FROM oidc_flows") == 0


async def test_signing_in_leads_to_the_page_that_was_wanted_and_nowhere_else(
    browser: Browser, provider: FakeIdentityProvider, new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    owner, email = await new_browser(), next(addresses)
    await owner.sign_up(email)
    provider.person = {"sub": "wanting", "email": email, "email_verified": True}
    page = "http://page.example"
    for wanted, there in (
        ("/read?run=7&cite=q%201", f"{page}/read?run=7&cite=q%201"),
        ("/history?q=关税", f"{page}/history?q=%E5%85%B3%E7%A8%8E"),
        *((evil, page) for evil in ("https://evil.example/", "//evil.example", "/\\evil.example", "/a\r\nX: y", "read", "")),
    ):
        back = await come_back(browser, provider, wanted)
        assert (back.status, back.headers["Location"]) == (302, there), wanted
    assert landing_address_of("https://x.example/app", "/app/read?run=7") == "https://x.example/app/read?run=7"
    assert (
        landing_address_of("https://x.example/app", "/apple")
        == landing_address_of("https://x.example/app", "/app/../admin")
        == "https://x.example/app"
    )
    assert landing_address_of("", "/read") == "/v1/me"


@pytest.mark.parametrize("lie", LIES)
async def test_a_lie_lets_nobody_in(browser: Browser, provider: FakeIdentityProvider, lie: str, new_browser: NewBrowser) -> None:
    owner, email = await new_browser(), f"{lie.replace(' ', '-')}@example.org"
    await owner.sign_up(email)
    provider.person, provider.lie = {"sub": lie, "email": email, "email_verified": True}, lie
    reply = await come_back(browser, provider)
    assert reply.is_problem(401)
    assert browser.cookie is None
    provider.lie = ""
    assert (await come_back(browser, provider)).status == 302


async def test_a_browser_that_is_not_let_in_is_led_back_to_the_form_and_told_why(
    browser: Browser, provider: FakeIdentityProvider, new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    owner, email, html = await new_browser(), next(addresses), {"Accept": "text/html,application/xhtml+xml"}
    await owner.sign_up(email)
    known = {"sub": "told", "email": email, "email_verified": True}
    stories: list[tuple[str, dict[str, object], str, dict[str, str]]] = [
        ("denied", known, "", {"error": "access_denied", "code": ""}),
        ("late", known, "", {"state": "another"}),
        ("untrusted", known, "nonce", {}),
        ("unverified", known | {"email_verified": False}, "", {}),
        ("closed", known | {"sub": "stranger", "email": next(addresses)}, "", {}),
    ]
    for reason, person, lie, changes in stories:
        provider.person, provider.lie = person, lie
        gone = await browser.get("/v1/oidc/start", params={"back": "/read?run=7"}, allow_redirects=False)
        query = provider.sign_in(gone.headers["Location"]) | changes
        back = await browser.get("/v1/oidc/callback", params=query, allow_redirects=False, headers=html)
        form = f"http://page.example/sign-in?form=enter&refused=provider_{reason}&back=%2Fread%3Frun%3D7"
        assert (back.status, back.headers["Location"]) == (302, form)
        assert browser.list_cookies() == {}, "neither signed in, nor still on the way"


async def test_an_address_that_nobody_verified_opens_no_account(
    browser: Browser, provider: FakeIdentityProvider, new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    owner, email = await new_browser(), next(addresses)
    await owner.sign_up(email)
    for claim in ({}, {"email_verified": False}, {"email_verified": "true"}):
        provider.person = {"sub": "thief", "email": email, **claim}
        assert (await come_back(browser, provider)).is_problem(401)


async def test_who_took_an_address_that_is_not_theirs_is_out_when_its_owner_comes(
    browser: Browser, provider: FakeIdentityProvider, new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    """Nobody shows that an address is theirs when signing up; the provider's word is the first there is."""
    thief, owner, email = await new_browser(), await new_browser(), next(addresses)
    await thief.sign_up(email, "A trap")
    key = (await thief.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]})).json["key"]
    await owner.sign_up(next(addresses), "Hosts")
    invitation = await owner.invite(email, "member")
    provider.person = {"sub": "true-owner", "email": email, "email_verified": True}
    assert (await come_back(browser, provider)).status == 302
    me = (await browser.get("/v1/me")).json
    assert (me["organisation"]["name"], me["has_password"], me["verified"]) == ("A trap", False, True)
    assert (await thief.get("/v1/me")).is_problem(401)
    assert (await thief.sign_in(email)).is_problem(401)
    async with open_browser(browser.address) as program:
        assert (await program.get("/v1/runs", headers={"Authorization": f"Bearer {key}"})).is_problem(401)
    assert (await come_back(browser, provider)).status == 302, "and again, which changes nothing"
    new = {"new": "several words nobody else joins"}
    assert (await browser.post("/v1/me/password", new)).status == 200
    joined = await browser.accept(invitation, new["new"])
    assert joined.json["organisation"]["name"] == "Hosts", "the invitation waited until they used it"


async def test_an_invitation_moves_nobody_who_has_a_place(
    browser: Browser, provider: FakeIdentityProvider, new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    ann, stranger, email = await new_browser(), await new_browser(), next(addresses)
    await ann.sign_up(email, "Ann's own")
    await stranger.sign_up(next(addresses), "Acme Research")
    provider.person = {"sub": "ann", "email": email, "email_verified": True}
    for time in ("the first time", "known to the provider"):
        await stranger.invite(email, "owner")
        assert (await come_back(browser, provider)).status == 302
        assert (await browser.get("/v1/me")).json["organisation"]["name"] == "Ann's own", time
    assert len((await stranger.get("/v1/members")).json["items"]) == 1, "she has not joined"
    assert len((await stranger.get("/v1/invitations")).json["items"]) == 1, "it is still hers to accept"


async def test_who_lost_their_last_place_joins_by_an_invitation(
    browser: Browser, provider: FakeIdentityProvider, new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    owner, email = await new_browser(), next(addresses)
    await owner.sign_up(next(addresses), "Hosts")
    await owner.invite(email, "member")
    provider.person = {"sub": "back-again", "email": email, "email_verified": True}
    await come_back(browser, provider)
    me = (await browser.get("/v1/me")).json
    assert (await owner.delete(f"/v1/members/{me['user_id']}")).status == 204
    assert (await come_back(browser, provider)).is_problem(403)
    await owner.invite(email, "viewer")
    assert (await come_back(browser, provider)).status == 302
    assert (await browser.get("/v1/me")).json["organisation"]["role"] == "viewer"


async def test_a_password_of_somebody_who_proved_the_address_stays(
    browser: Browser, provider: FakeIdentityProvider, new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner, email = await new_browser(), next(addresses)
    await owner.sign_up(email)
    await pool.execute("UPDATE users SET verified_at = now() WHERE email = $1", email)
    provider.person = {"sub": "the-same", "email": email, "email_verified": True}
    assert (await come_back(browser, provider)).status == 302
    assert (await owner.get("/v1/me")).status == 200
    assert (await owner.sign_in(email)).status == 200
    me = (await browser.get("/v1/me")).json
    assert (me["verified"], me["has_password"]) == (True, True)


async def test_who_comes_by_a_provider_can_set_a_password_and_be_erased(
    browser: Browser, provider: FakeIdentityProvider, new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner, email = await new_browser(), next(addresses)
    await owner.sign_up(next(addresses), "Hosts")
    await owner.invite(email, "admin")
    provider.person = {"sub": "p-new", "email": email, "email_verified": True}
    await come_back(browser, provider)
    assert (await browser.post("/v1/me/erasure", {"password": "guessed it"})).is_problem(403)
    key = (await browser.post("/v1/keys", {"name": "k", "scopes": ["account:write"]})).json["key"]
    new = {"new": "several words nobody else joins"}
    assert (await browser.post("/v1/me/password", new, headers={"Authorization": f"Bearer {key}"})).is_problem(401)
    await pool.execute("UPDATE sessions SET created_at = created_at - interval '11 minutes'")
    late = await browser.post("/v1/me/password", new)
    assert late.is_problem(401)
    assert "again" in late.json["detail"]
    await come_back(browser, provider)
    assert (await browser.post("/v1/me/password", new)).json["has_password"] is True
    assert (await browser.post("/v1/me/password", {"new": "another one of many words"})).is_problem(401), "now it has to be shown"
    assert (await browser.post("/v1/me/erasure", {"password": new["new"]})).status == 204
    assert await pool.fetchval("SELECT count(*) FROM users WHERE email = $1", email) == 0


async def test_a_provider_may_tell_beside_the_token_who_somebody_is(
    browser: Browser, provider: FakeIdentityProvider, new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    """As certified providers do by default (OpenID Connect Core 1.0, section 5.4)."""
    owner, email = await new_browser(), next(addresses)
    await owner.sign_up(email)
    provider.person = {"sub": "p-9"}
    for told in ({}, {"sub": "p-8", "email": email, "email_verified": True}, {"sub": "p-9", "email": email}):
        provider.beside = told
        assert (await come_back(browser, provider)).is_problem(401), told
    provider.beside = {"sub": "p-9", "email": email, "email_verified": True}
    assert (await come_back(browser, provider)).status == 302
    assert (await browser.get("/v1/me")).json["email"] == email


async def test_a_sign_in_belongs_to_the_browser_that_began_it_and_is_good_once(
    browser: Browser, provider: FakeIdentityProvider, new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    owner, email = await new_browser(), next(addresses)
    await owner.sign_up(email)
    provider.person = {"sub": "p", "email": email, "email_verified": True}
    gone = await browser.get("/v1/oidc/start", allow_redirects=False)
    query = provider.sign_in(gone.headers["Location"])
    async with open_browser(browser.address) as victim:
        assert (await victim.get("/v1/oidc/callback", params=query, allow_redirects=False)).is_problem(401)
    assert (await come_back(browser, provider, state="x")).is_problem(401)
    assert (await come_back(browser, provider, code="guessed")).is_problem(401)
    assert (await come_back(browser, provider, error="access_denied")).is_problem(401)
    kept = browser.list_cookies()["rubrica_oidc"].value
    again = await browser.get("/v1/oidc/callback", params={"state": kept, "code": "c"}, allow_redirects=False)
    again = await browser.get("/v1/oidc/callback", params={"state": kept, "code": "c"}, allow_redirects=False)
    assert again.is_problem(401)
    assert (await owner.get("/v1/oidc/start", allow_redirects=False)).is_problem(404), "a deployment without a provider"
