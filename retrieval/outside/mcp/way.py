"""The way to an MCP server, and to what it leads to: only what the operator named is reached without a check.

The addresses of a sign-in are a stranger's words: the server names its authorisation server, which names its endpoints. They go
by the guard that pages and webhooks go by.
"""

import asyncio
from collections.abc import Callable, Collection
from typing import Self

import aiohttp
import httpx2
from yarl import URL

from app.domain.errors import ToolError
from app.outgoing.guard import check_named, guarded_connector, proxied_connector, system_lookup
from app.outgoing.targets import check_target
from app.outgoing.way_out import find_proxy, make_tls

OTHERS_LIMIT_S = 20
MOST_BYTES = 1 << 20
READ_LIMIT_S = 300
Vouch = Callable[[str], bool]


def vouch_for_none(_: str) -> bool:
    """Vouch for no address besides those that the configuration names."""
    return False


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Sends requests to the origins of `named`, and to addresses for which `vouch` speaks, as the operator's own.

    Others are checked, and their answers are read whole, up to a megabyte.
    """

    def __init__(self, named: Collection[str], vouch: Vouch = vouch_for_none) -> None:
        self._named = {_origin_of(httpx2.URL(url)) for url in named}
        self._vouch = vouch
        self._plain: dict[str | None, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request.

        Raises:
            httpx2.ConnectError: the address is refused, or nobody answers there.
        """
        url = str(request.url)
        if _origin_of(request.url) in self._named or self._vouch(url):
            return await self._find_plain(url).handle_async_request(request)
        try:
            return await _send_checked(request)
        except (ToolError, aiohttp.ClientError, TimeoutError, OSError) as error:
            said = str(error) if isinstance(error, ToolError) else type(error).__name__
            raise httpx2.ConnectError(f"{request.url.host}: {said}", request=request) from error

    def _find_plain(self, url: str) -> httpx2.AsyncHTTPTransport:
        proxy = find_proxy(url)
        if proxy not in self._plain:
            self._plain[proxy] = httpx2.AsyncHTTPTransport(verify=make_tls(), proxy=proxy, trust_env=False)
        return self._plain[proxy]

    async def aclose(self) -> None:
        """Close the connections."""
        for transport in self._plain.values():
            await transport.aclose()

    async def __aenter__(self) -> Self:
        return self


def open_http(
    transport: httpx2.AsyncBaseTransport,
    limit_s: float,
    headers: dict[str, str] | None = None,
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    """Return a client that follows no redirect, and whose requests all go by `transport`."""
    timeout = httpx2.Timeout(limit_s, read=READ_LIMIT_S)
    return httpx2.AsyncClient(headers=headers, auth=auth, timeout=timeout, transport=transport, trust_env=False)


async def _read_whole(content: aiohttp.StreamReader) -> bytes:
    """Read a body, or its first megabyte. A plain `read` returns what has come so far."""
    try:
        return await content.readexactly(MOST_BYTES)
    except asyncio.IncompleteReadError as short:
        return short.partial


def _origin_of(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


async def _send_checked(request: httpx2.Request) -> httpx2.Response:
    """Send a request by the guard, and read its answer."""
    url = check_target(str(request.url))
    proxy = find_proxy(str(url))
    if proxy:
        await check_named(url, system_lookup, ())
    connector = proxied_connector() if proxy else guarded_connector(system_lookup, (), make_tls())
    timeout = aiohttp.ClientTimeout(total=OTHERS_LIMIT_S)
    headers = {name: value for name, value in request.headers.items() if name not in ("host", "content-length", "connection")}
    async with (
        aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
        session.request(
            request.method,
            URL(str(url), encoded=True),
            headers=headers,
            data=await request.aread() or None,
            proxy=proxy,
            allow_redirects=False,
        ) as answer,
    ):
        body = await _read_whole(answer.content)
        kept = {name: value for name, value in answer.headers.items() if name.lower() in ("content-type", "location")}
        return httpx2.Response(answer.status, headers=kept, content=body)
