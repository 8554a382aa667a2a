"""`rubrica mcp`: serve our MCP tools to one person over standard input and output, or over HTTP to everybody who has a key.

Over HTTP each request carries a key of our API, and its tools act by that key alone: the API keeps organisations apart. A
request has no session here, so none can be taken over.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, MutableMapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from app.http.guard import LOCAL_HOSTS, HostGuard
from app.http.refusals import RequestRefusal, send_refusal
from app.http.server import GRACE_SECONDS, bind
from app.settings import Settings
from infra.cli.connection import Connection, open_api, open_connection
from infra.cli.execute import say
from infra.cli.mcp_server import Caller, Desk, ToolContext, build_server
from infra.cli.progress import RunProgress
from retrieval.service.client import IndexClient
from rubrica_client import ApiError, AsyncClient, accounts

CALLER = "rubrica_caller"
NO_KEY = "every request needs an API key of this deployment: send it as `Authorization: Bearer rbk_...`"
OpenApi = Callable[[str], AsyncClient]
Scope = MutableMapping[str, Any]
Send = Callable[[Any], Awaitable[None]]


class OneCaller:
    """The desk of a server over standard input and output: every call serves the person who started it."""

    def __init__(self, connection: Connection, page: str | None) -> None:
        self._connection = connection
        self._caller = Caller(connection.api, page)

    def find_caller(self, context: ToolContext) -> Caller:
        """Return the person who started the server."""
        return self._caller

    async def wait(self, work: Coroutine[Any, Any, RunProgress]) -> RunProgress:
        """Return the result of `work`, unless a part of the stack that was started for it fails to start."""
        return await self._connection.run_while_healthy(work)


class CallersWithKeys:
    """The desk of a server over HTTP: a call serves whose key its request carries."""

    def find_caller(self, context: ToolContext) -> Caller:
        """Return whose key the request carries."""
        request = context.request_context.request
        assert request is not None
        caller: Caller = request.scope[CALLER]
        return caller

    async def wait(self, work: Coroutine[Any, Any, RunProgress]) -> RunProgress:
        """Return the result of `work`."""
        return await work


class KeyDoor:
    """An ASGI application in front of the server over HTTP: it lets in requests with a good key, and opens the API for each."""

    def __init__(self, app: Any, open_api: OpenApi, page: str | None) -> None:
        self._app, self._open_api, self._page = app, open_api, page

    async def __call__(self, scope: Scope, receive: Any, send: Send) -> None:
        """Let the request through, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        async with self._open_api(_read_key(scope)) as api:
            refusal = await _find_refusal(api)
            if refusal is None:
                await self._app({**scope, CALLER: Caller(api, self._page)}, receive, send)
            else:
                await send_refusal(_with_scheme(send) if refusal.status == 401 else send, refusal)


async def _find_refusal(api: AsyncClient) -> RequestRefusal | None:
    try:
        await api.send(accounts.me())
    except ApiError as error:
        if error.status == 401:
            return RequestRefusal(401, "unauthenticated", "Unauthenticated", NO_KEY)
        if 400 <= error.status < 500:
            return RequestRefusal(error.status, "refused", "Refused", str(error))
        return RequestRefusal(503, "unavailable", "Unavailable", "the API does not answer; try again", retry_s=2)
    return None


def _read_key(scope: Scope) -> str:
    """Return the key of a request; where there is none, a word that is no key."""
    given = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
    scheme, _, key = given.partition(" ")
    return key.strip() if scheme.lower() == "bearer" and key.strip() else "none"


def _with_scheme(send: Send) -> Send:
    async def reply(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"www-authenticate", b"Bearer")]}
        await send(message)

    return reply


async def serve(settings: Settings) -> int:
    """Serve until the client leaves. Start a stack where none runs, as `rubrica ask` does."""
    async with open_connection(settings, say) as connection, _open_index(connection) as index:
        await build_server(OneCaller(connection, find_page(settings, connection)), index).run_stdio_async()
    return 0


async def serve_http(settings: Settings, host: str, port: int) -> int:
    """Serve over HTTP until stopped, at `/mcp`. Start a stack where none runs."""
    async with open_connection(settings, say) as connection, _open_index(connection) as index:
        address, page = connection.api.address.url, find_page(settings, connection)
        names = list_names(settings, host)
        with bind(host, port) as listening:
            server = uvicorn.Server(make_configuration(CallersWithKeys(), index, lambda key: open_api(address, key), page, names))
            say(f"MCP over HTTP: http://{host}:{listening.getsockname()[1]}/mcp")
            await server.serve(sockets=[listening])
    return 0


def make_configuration(
    desk: Desk, index: IndexClient | None, open_api: OpenApi, page: str | None, names: Collection[str] = LOCAL_HOSTS
) -> uvicorn.Config:
    """Return the server over HTTP. It answers to `names` only: the guard before it checks them, so the library does not."""
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    tools = build_server(desk, index).streamable_http_app(stateless_http=True, transport_security=unchecked)
    door: Any = KeyDoor(tools, open_api, page)
    return uvicorn.Config(
        HostGuard(door, names),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def list_names(settings: Settings, host: str) -> frozenset[str]:
    """Return the names that the server answers to: this machine's own, those of the settings, and `host`."""
    public = urlsplit(settings.public_url or "").hostname
    return LOCAL_HOSTS | {*settings.allowed_hosts, host, *([public] if public else [])}


def find_page(settings: Settings, connection: Connection) -> str | None:
    """Return where people read runs: the page of the settings, else that of the stack on this machine."""
    return settings.page_url or settings.public_url or connection.page


@asynccontextmanager
async def _open_index(connection: Connection) -> AsyncIterator[IndexClient | None]:
    """Yield the retrieval service, where this machine has one."""
    if connection.retrieval is None:
        yield None
        return
    async with IndexClient(connection.retrieval) as index:
        yield index
