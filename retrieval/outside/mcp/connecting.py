"""A person signs in to an MCP server once: authorisation code with PKCE, in their browser, back to a port of this machine."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx2
from aiohttp import web
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.utils import union_scopes
from mcp.client.streamable_http import MCP_SESSION_ID
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import LATEST_PROTOCOL_VERSION
from pydantic import AnyUrl

from app.outgoing.targets import SCHEMES
from retrieval.outside.mcp.accounts import Account, AccountFile, MemoryTokens, SignInNeeded, describe_flow_error
from retrieval.outside.mcp.configuration import ServerConfiguration, SignIn
from retrieval.outside.mcp.way import CheckedTransport, Vouch, open_http, vouch_for_none

PERSON_LIMIT = timedelta(minutes=10)
REQUEST_LIMIT = timedelta(seconds=30)
BACK = "/callback"
SAID_BACK = "Rubrica has the answer; look at the command that you started. You can close this page."
Show = Callable[[str], Awaitable[None]]


class Callback:
    """The address of this machine to which the browser is sent back. It listens while it is open."""

    def __init__(self) -> None:
        self._came: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        app = web.Application()
        app.router.add_get(BACK, self._receive)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        self.url = ""

    async def open(self, port: int) -> None:
        """Listen on a port, 0 for a free one. `OSError` where it is taken."""
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}{BACK}"

    async def wait(self) -> AuthorizationCodeResult:
        """Wait for the browser, and read what it brings.

        Raises:
            OAuthFlowError: the person, or the server, said no.
        """
        said = {name: values[0] for name, values in parse_qs(await self._came).items()}
        if "code" not in said:
            raise OAuthFlowError("the sign-in was refused")
        return AuthorizationCodeResult(code=said["code"], state=said.get("state"), iss=said.get("iss"))

    async def close(self) -> None:
        """Listen no more."""
        await self._runner.cleanup()

    async def _receive(self, request: web.Request) -> web.Response:
        if not self._came.done():
            self._came.set_result(request.query_string)
        return web.Response(text=SAID_BACK)


class PersonSignIn(OAuthClientProvider):
    """The library's sign-in, which also asks for the rights (scopes) that the account before lacked."""

    wanted: str | None = None

    async def _perform_authorization(self) -> httpx2.Request:
        about = self.context.client_metadata
        about.scope = union_scopes(about.scope, self.wanted)
        return await super()._perform_authorization()


async def connect_account(
    configuration: ServerConfiguration, file: AccountFile, show: Show, port: int = 0, vouch: Vouch = vouch_for_none
) -> bool:
    """Lead a person through the sign-in of a server, and keep the account. False where the server asks for none.

    `show` gets the address that the person opens.

    Raises:
        SignInNeeded: there is no account, with the reason.
    """
    url, known = str(configuration.url), configuration.oauth
    callback = Callback()
    try:
        await callback.open(port)
        provider = _make_provider(url, known, callback, show)
        with suppress(SignInNeeded):  # a file that cannot be read is replaced
            provider.wanted = account.wanted if (account := file.read(url)) else None
        transport = CheckedTransport([url, *([known.issuer] if known.issuer else [])], vouch)
        async with asyncio.timeout(PERSON_LIMIT.total_seconds()), open_http(transport, REQUEST_LIMIT.total_seconds()) as http:
            await _knock(http, url, dict(configuration.headers), provider)
    except TimeoutError:
        raise SignInNeeded(f"nobody signed in within {PERSON_LIMIT.seconds // 60} minutes") from None
    except OAuthFlowError as error:
        raise SignInNeeded(f"no account: {describe_flow_error(error)}") from None
    except (httpx2.HTTPError, OSError) as error:
        raise SignInNeeded(f"no account: {error}") from None
    finally:
        await callback.close()
    return _keep(url, file, provider)


def _make_provider(url: str, known: SignIn, callback: Callback, show: Show) -> PersonSignIn:
    secret = known.client_secret.get_secret_value() if known.client_secret else None
    about = OAuthClientMetadata(redirect_uris=[AnyUrl(callback.url)], client_name="Rubrica", application_type="native")
    client = known.client_id and OAuthClientInformationFull(
        client_id=known.client_id,
        client_secret=secret,
        redirect_uris=about.redirect_uris,
        token_endpoint_auth_method="client_secret_basic" if secret else "none",
        issuer=known.issuer,
    )

    async def show_checked(address: str) -> None:
        if urlsplit(address).scheme not in SCHEMES:
            raise OAuthFlowError("the address of the sign-in is no web address")
        await show(address)

    return PersonSignIn(url, about, MemoryTokens(client or None), show_checked, callback.wait)


async def _knock(http: httpx2.AsyncClient, url: str, headers: dict[str, str], auth: httpx2.Auth) -> None:
    """Send the first requests of a session. A server that wants a sign-in refuses one of them, with or without a session."""
    about = {"name": "rubrica", "version": "1"}
    asked = {"protocolVersion": LATEST_PROTOCOL_VERSION, "capabilities": {}, "clientInfo": about}
    said = {**headers, "Accept": "application/json, text/event-stream", MCP_PROTOCOL_VERSION_HEADER: LATEST_PROTOCOL_VERSION}
    for number, (method, params) in enumerate((("initialize", asked), ("tools/list", {}))):
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        async with http.stream("POST", url, json=body, headers=said, auth=auth) as answer:
            if answer.status_code == httpx2.codes.UNAUTHORIZED:
                raise OAuthFlowError("the server refuses the token that it asked for")
            if session := answer.headers.get(MCP_SESSION_ID):
                said[MCP_SESSION_ID] = session


def _keep(url: str, file: AccountFile, provider: PersonSignIn) -> bool:
    context = provider.context
    if context.current_tokens is None or context.client_info is None:
        return False
    account = Account(
        url=url,
        tokens=context.current_tokens,
        client=context.client_info,
        server=context.oauth_metadata,
        resource=context.protected_resource_metadata,
    )
    file.write(account)
    return True
