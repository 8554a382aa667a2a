"""How often somebody may try a password or a token, by account and by network address."""

import asyncio
import hashlib
from collections.abc import Iterator

import asyncpg

from app.accounts.service.attempts import FROM_ADDRESS
from app.domain.network import network_of
from app.http.services import Services
from tests.app.browser import open_browser
from tests.app.conftest import NewBrowser
from tests.app.served_api import ApiClient, serve_api


async def test_attempts_are_limited_and_a_stranger_keeps_nobody_out(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    browser, email = await new_browser(), next(addresses)
    await browser.sign_up(email)
    replies = await asyncio.gather(*(browser.sign_in(email, f"guess number {number}") for number in range(7)))
    assert sorted(reply.status for reply in replies) == [401] * 5 + [429] * 2
    refused = next(reply for reply in replies if reply.status == 429)
    assert refused.is_problem(429)
    assert 0 < int(refused.headers["Retry-After"]) <= 12
    # However long the guesses took, no attempt is allowed again yet.
    account = hashlib.sha256(email.encode()).hexdigest()
    await pool.execute("UPDATE rate_buckets SET full_at = full_at + interval '1 hour' WHERE strpos(subject, $1) > 0", account)
    assert (await browser.sign_in(email)).is_problem(429), "a right guess is not told apart"
    other = next(addresses)
    await browser.sign_up(other)
    assert (await browser.sign_in(other)).status == 200


async def test_an_account_is_not_guessed_from_many_addresses(addresses: Iterator[str], api: ApiClient) -> None:
    email, guesses = next(addresses), 0
    async with open_browser(api.address) as owner:
        await owner.sign_up(email)
    for host in range(2, 30):
        async with open_browser(api.address, f"127.0.0.{host}") as stranger:
            replies = [await stranger.sign_in(email, f"guess number {number}") for number in range(5)]
        guesses += [reply.status for reply in replies].count(401)
        if guesses < 5 * (host - 1):
            break
    assert 50 <= guesses < 100
    assert 0 < int(next(reply for reply in replies if reply.status == 429).headers["Retry-After"]) <= 6


async def test_who_has_a_network_of_ipv6_has_one_allowance(services: Services, fresh_buckets: None) -> None:
    async with serve_api(services, proxies=("127.0.0.0/8",)) as api, open_browser(api.address) as browser:

        async def attempt(sender: str) -> int:
            return (await browser.post("/v1/verifications", {"token": "guess"}, headers={"X-Forwarded-For": sender})).status

        # Thirty at once are allowed, and one more every two seconds: far more of them than the slowest machine lets through.
        network = await asyncio.gather(*(attempt(f"2001:db8:0:1::{n:x}") for n in range(1, 101)))
        assert network.count(429) > 0, network
        assert await attempt("2001:db8:0:2::1") != 429


async def test_one_address_does_not_try_many_invitations(new_browser: NewBrowser, api: ApiClient) -> None:
    browser, tried = await new_browser(), 0
    while (await browser.accept("invented")).status == 400 and tried < 100:
        tried += 1
    assert 30 <= tried < 100
    async with open_browser(api.address, "127.0.0.2") as elsewhere:
        assert (await elsewhere.accept("invented")).status == 400


async def test_the_last_attempt_that_an_address_has_left_is_enough_to_join(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner, new, known = await new_browser(), await new_browser(), await new_browser()
    await owner.sign_up(next(addresses))
    await known.sign_up(email := next(addresses))
    (every, burst), subject = FROM_ADDRESS, f"attempt from {network_of('127.0.0.1')}"
    leave_one = "UPDATE rate_buckets SET full_at = now() + $1 WHERE subject = $2"
    for joining, address in ((new, next(addresses)), (known, email)):
        invitation = await owner.invite(address, "member")
        assert await pool.execute(leave_one, (burst - 1) * every, subject) == "UPDATE 1"
        assert (await joining.accept(invitation)).status == 200
