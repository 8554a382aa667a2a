"""Signing in with an identity provider, honest and not."""

from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from app.api.services import open_services
from app.services.accounts.policy import AccountPolicy, Provider
from tests.app.accounts.browser import Browser, browsing
from tests.app.accounts.conftest import NewBrowser
from tests.app.accounts.provider import CLIENT, SECRET, FakeProvider, providing
from tests.app.support import InMemoryRuns, Reply, serving

LIES = ("signature", "audience", "expired", "nonce", "no nonce", "issuer", "unsigned", "shared secret")


@pytest.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with providing() as served:
        yield served


@pytest.fixture
async def browser(provider: FakeProvider, api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[Browser]:
    known = Provider(provider.issuer, CLIENT, SECRET)
    policy = AccountPolicy(sign_up=False, public_url="http://api.example", page_url="http://page.example", provider=known)
    async with (
        open_services(*api_urls, workflows, accounts_policy=policy) as services,
        serving(services) as client,
        browsing(client.address) as made,
    ):
        yield made


async def come_back(browser: Browser, provider: FakeProvider, **changes: str) -> Reply:
    """To the provider and back, with the query changed on the way."""
    gone = await browser.get("/v1/oidc/start", allow_redirects=False)
    assert gone.status == 302
    assert gone.headers["Location"].startswith(f"{provider.issuer}/authorize?")
    query = provider.sign_in(gone.headers["Location"]) | changes
    return await browser.get("/v1/oidc/callback", params=query, allow_redirects=False)


async def test_there_and_back(
    browser: Browser, provider: FakeProvider, new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner, email = await new_browser(), next(addresses)
    await owner.sign_up(next(addresses), "Hosts")
    provider.person = {"sub": "person-1", "email": email.upper(), "email_verified": True, "name": "Grace"}
    assert (await come_back(browser, provider)).is_problem(403), "sign-up is closed, and nobody has invited her"
    await owner.invited(email, "admin")
    back = await come_back(browser, provider)
    assert (back.status, back.headers["Location"]) == (302, "http://page.example")
    assert set(browser.cookies()) == {"rubrica_session"}
    me = (await browser.get("/v1/me")).json
    assert (me["email"], me["name"], me["organisation"]["name"], me["organisation"]["role"]) == (email, "Grace", "Hosts", "admin")
    provider.person |= {"email": next(addresses)}
    await come_back(browser, provider)
    assert (await browser.get("/v1/me")).json["user_id"] == me["user_id"], "who she is to the provider outranks her address"
    provider.person = {"sub": "person-1", "email": email, "email_verified": True}
    assert (await browser.sign_in(email, "any password at all")).is_problem(401), "she has no password"
    assert await pool.fetchval("SELECT count(*) FROM oidc_flows") == 0


@pytest.mark.parametrize("lie", LIES)
async def test_a_lie_lets_nobody_in(browser: Browser, provider: FakeProvider, lie: str, new_browser: NewBrowser) -> None:
    owner, email = await new_browser(), f"{lie.replace(' ', '-')}@example.org"
    await owner.sign_up(email)
    provider.person, provider.lie = {"sub": lie, "email": email, "email_verified": True}, lie
    reply = await come_back(browser, provider)
    assert reply.is_problem(401)
    assert browser.cookie is None
    provider.lie = ""
    assert (await come_back(browser, provider)).status == 302


async def test_an_address_that_nobody_verified_opens_no_account(
    browser: Browser, provider: FakeProvider, new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    owner, email = await new_browser(), next(addresses)
    await owner.sign_up(email)
    for claim in ({}, {"email_verified": False}, {"email_verified": "true"}):
        provider.person = {"sub": "thief", "email": email, **claim}
        assert (await come_back(browser, provider)).is_problem(401)


async def test_a_provider_may_tell_beside_the_token_who_somebody_is(
    browser: Browser, provider: FakeProvider, new_browser: NewBrowser, addresses: Iterator[str]
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
    browser: Browser, provider: FakeProvider, new_browser: NewBrowser, addresses: Iterator[str]
) -> None:
    owner, email = await new_browser(), next(addresses)
    await owner.sign_up(email)
    provider.person = {"sub": "p", "email": email, "email_verified": True}
    gone = await browser.get("/v1/oidc/start", allow_redirects=False)
    query = provider.sign_in(gone.headers["Location"])
    async with browsing(browser.address) as victim:
        assert (await victim.get("/v1/oidc/callback", params=query, allow_redirects=False)).is_problem(401)
    assert (await come_back(browser, provider, state="x")).is_problem(401)
    assert (await come_back(browser, provider, code="guessed")).is_problem(401)
    assert (await come_back(browser, provider, error="access_denied")).is_problem(401)
    kept = browser.cookies()["rubrica_oidc"].value
    again = await browser.get("/v1/oidc/callback", params={"state": kept, "code": "c"}, allow_redirects=False)
    again = await browser.get("/v1/oidc/callback", params={"state": kept, "code": "c"}, allow_redirects=False)
    assert again.is_problem(401)
    assert (await owner.get("/v1/oidc/start", allow_redirects=False)).is_problem(404), "a deployment without a provider"
