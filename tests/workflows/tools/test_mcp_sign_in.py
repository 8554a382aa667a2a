"""MCP servers that ask for OAuth: a person connects them once, or the client signs in by itself."""

import asyncio
import logging
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from app.outgoing.way_out import is_on_this_machine
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.mcp.accounts import AccountFile, SignInNeeded
from retrieval.outside.mcp.configuration import ServerConfiguration
from retrieval.outside.mcp.connecting import connect_account
from retrieval.outside.mcp.server import McpServer
from retrieval.outside.mcp.way import Vouch, vouch_for_none
from tests.support.oauth_stub import SECRET, GuardedServer


@pytest.fixture
async def guarded() -> AsyncIterator[GuardedServer]:
    async with GuardedServer().serve() as server:
        yield server


async def browse(address: str) -> None:
    """Do what a browser does with the address of a sign-in, by a person who agrees."""
    async with aiohttp.ClientSession() as session, session.get(address) as answer:
        assert answer.status == 200


async def connect(guarded: GuardedServer, folder: Path, vouch: Vouch = is_on_this_machine, **oauth: str) -> bool:
    configuration = ServerConfiguration(url=guarded.url, oauth=oauth)  # type: ignore[arg-type]
    return await connect_account(configuration, AccountFile(folder, "shop"), browse, vouch=vouch)


async def call(guarded: GuardedServer, folder: Path, **oauth: str) -> str:
    configuration = ServerConfiguration(url=guarded.url, oauth=oauth)  # type: ignore[arg-type]
    server = McpServer("shop", configuration, folder, is_on_this_machine)
    try:
        return await server.call("look_up", {})
    finally:
        await server.close()


async def test_a_connected_server_answers(guarded: GuardedServer, tmp_path: Path) -> None:
    assert await connect(guarded, tmp_path)
    assert await call(guarded, tmp_path) == "call 1"
    assert guarded.grants == ["authorization_code"]
    assert guarded.forms[0]["resource"] == guarded.url, "the token is for this server alone"
    kept = tmp_path / "shop.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


async def test_one_that_nobody_connected_says_how(guarded: GuardedServer, tmp_path: Path) -> None:
    with pytest.raises(CallFailed, match="rubrica mcp connect shop") as caught:
        await call(guarded, tmp_path)
    assert caught.value.failure is Failure.DENIED
    assert guarded.asked == [], "no worker follows what a server says of sign-ins"


async def test_workers_refresh_an_account_once(guarded: GuardedServer, tmp_path: Path) -> None:
    await connect(guarded, tmp_path)
    guarded.valid.clear()
    assert sorted(await asyncio.gather(*(call(guarded, tmp_path) for _ in range(3)))) == ["call 1", "call 2", "call 3"]
    assert guarded.grants == ["authorization_code", "refresh_token"], "the server takes a refresh token once"


async def test_a_refused_refresh_says_what_to_do_and_no_secret(
    guarded: GuardedServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await connect(guarded, tmp_path)
    guarded.valid.clear()
    guarded.refuse = 400
    with pytest.raises(CallFailed, match="rubrica mcp connect shop` again") as caught:
        await call(guarded, tmp_path)
    assert caught.value.failure is Failure.DENIED
    for secret in (SECRET, "refresh1", "access1", guarded.forms[0]["code"], guarded.forms[0]["code_verifier"]):
        assert secret not in caplog.text + str(caught.value)


async def test_a_connection_that_is_shut_out_says_what_to_do(guarded: GuardedServer, tmp_path: Path) -> None:
    await connect(guarded, tmp_path)
    server = McpServer("shop", ServerConfiguration(url=guarded.url), tmp_path, is_on_this_machine)
    try:
        assert await server.call("look_up", {}) == "call 1"
        guarded.valid.clear()
        assert await server.call("look_up", {}) == "call 2", "it is refreshed"
        guarded.valid.clear()
        guarded.refuse = 400
        with pytest.raises(CallFailed, match="rubrica mcp connect shop` again"):
            await server.call("look_up", {})
        guarded.refuse = 0
        await connect(guarded, tmp_path)
        assert await server.call("look_up", {}) == "call 3", "without a new start of the worker"
    finally:
        await server.close()


async def test_an_authorisation_server_that_is_away_may_come_back(guarded: GuardedServer, tmp_path: Path) -> None:
    await connect(guarded, tmp_path)
    guarded.valid.clear()
    guarded.refuse = 503
    with pytest.raises(CallFailed) as caught:
        await call(guarded, tmp_path)
    assert caught.value.failure is Failure.UNAVAILABLE
    guarded.refuse = 0
    assert await call(guarded, tmp_path) == "call 1"


async def test_an_account_is_for_its_address_alone(guarded: GuardedServer, tmp_path: Path) -> None:
    await connect(guarded, tmp_path)
    async with GuardedServer(valid={"access1"}).serve() as another:
        with pytest.raises(CallFailed, match="rubrica mcp connect"):
            await call(another, tmp_path)


async def test_a_client_signs_in_by_itself(guarded: GuardedServer, tmp_path: Path) -> None:
    known = {"grant": "client_credentials", "client_id": "we", "client_secret": SECRET, "issuer": guarded.issuer}
    assert await call(guarded, tmp_path, **known) == "call 1"
    assert guarded.grants == ["client_credentials"]
    assert guarded.forms[0]["resource"] == guarded.url


async def test_a_client_that_is_refused_says_where_to_look_and_no_secret(
    guarded: GuardedServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    guarded.refuse = 401
    known = {"grant": "client_credentials", "client_id": "we", "client_secret": SECRET, "issuer": guarded.issuer}
    with pytest.raises(CallFailed, match="look at its `oauth`") as caught:
        await call(guarded, tmp_path, **known)
    assert caught.value.failure is Failure.DENIED
    assert SECRET not in caplog.text + str(caught.value) + repr(ServerConfiguration(url=guarded.url, oauth=known))  # type: ignore[arg-type]


async def test_a_secret_goes_to_its_issuer_alone(guarded: GuardedServer, tmp_path: Path) -> None:
    async with GuardedServer().serve() as thief:
        guarded.said_of_resource["authorization_servers"] = [thief.issuer]
        known = {"grant": "client_credentials", "client_id": "we", "client_secret": SECRET, "issuer": guarded.issuer}
        with pytest.raises(CallFailed):
            await call(guarded, tmp_path, **known)
        assert thief.forms == []
        with pytest.raises(SignInNeeded):
            await connect(guarded, tmp_path, client_id="we", client_secret=SECRET, issuer=guarded.issuer)
        assert all(form.get("client_secret") != SECRET or form["client_id"] == "made" for form in thief.forms)


@pytest.mark.parametrize(
    "place", ["http://169.254.169.254", "http://10.0.0.7:8080", "http://localhost:8000", "http://2130706433"]
)
async def test_a_private_address_is_not_asked(
    guarded: GuardedServer, tmp_path: Path, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    guarded.said_of_resource["authorization_servers"] = [place]
    with pytest.raises(SignInNeeded, match="refused"):
        await connect(guarded, tmp_path, vouch_for_none)


async def test_an_authorisation_server_leads_to_no_private_address(guarded: GuardedServer, tmp_path: Path) -> None:
    guarded.said_of_issuer["token_endpoint"] = "http://169.254.169.254/token"
    with pytest.raises(SignInNeeded, match="refused"):
        await connect(guarded, tmp_path, vouch_for_none, issuer=guarded.issuer)
    assert guarded.asked == ["resource", "issuer", "register"]


async def test_another_issuer_is_refused(guarded: GuardedServer, tmp_path: Path) -> None:
    guarded.said_of_issuer["issuer"] = "https://another.example"
    with pytest.raises(SignInNeeded, match="issuer mismatch"):
        await connect(guarded, tmp_path)
    assert "register" not in guarded.asked


async def test_the_token_of_another_resource_is_not_asked_for(guarded: GuardedServer, tmp_path: Path) -> None:
    guarded.said_of_resource["resource"] = "https://another.example/mcp"
    with pytest.raises(SignInNeeded, match="does not match"):
        await connect(guarded, tmp_path)
    assert guarded.forms == []


async def test_a_browser_that_brings_another_state_is_refused(
    guarded: GuardedServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    guarded.state = "planted"
    with pytest.raises(SignInNeeded, match=r"State parameter mismatch$"):
        await connect(guarded, tmp_path)
    assert guarded.forms == []
    assert not (tmp_path / "shop.json").exists()
    assert "planted" not in caplog.text


async def test_a_server_without_sign_in_needs_no_account(tmp_path: Path) -> None:
    guarded = GuardedServer(valid={""})
    async with guarded.serve():
        assert not await connect(guarded, tmp_path)


async def test_a_server_that_asks_after_the_handshake_is_connected(guarded: GuardedServer, tmp_path: Path) -> None:
    guarded.open = ("initialize", "notifications/initialized")
    assert await connect(guarded, tmp_path)
    assert await call(guarded, tmp_path) == "call 1"


async def test_rights_that_a_call_lacked_are_asked_for_at_the_next_sign_in(guarded: GuardedServer, tmp_path: Path) -> None:
    guarded.said_of_resource["scopes_supported"] = ["read"]
    guarded.wanted = "write"
    await connect(guarded, tmp_path)
    with pytest.raises(CallFailed, match=r"more rights .* `rubrica mcp connect shop` again") as caught:
        await call(guarded, tmp_path)
    assert caught.value.failure is Failure.DENIED
    assert guarded.scopes == ["read"], "no worker asks for more by itself"
    await connect(guarded, tmp_path)
    assert await call(guarded, tmp_path) == "call 1"
    assert guarded.scopes[1].split() == ["read", "write"]
