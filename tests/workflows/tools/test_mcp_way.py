"""The way to the addresses that an MCP server's sign-in leads to."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx2
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from retrieval.outside.mcp.way import MOST_BYTES, CheckedTransport, open_http

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serve_proxy(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Serve what the environment names as the proxy, which answers everything itself."""
    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    async with TestServer(app) as proxy:
        monkeypatch.setenv("http_proxy", str(proxy.make_url("")))
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        yield


async def test_an_answer_in_pieces_is_read_whole_by_way_of_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        pieces = web.StreamResponse(headers={"Content-Type": "application/json"})
        await pieces.prepare(request)
        for piece in (b'{"issuer": ', b'"https://login.example"}'):
            await pieces.write(piece)
            await asyncio.sleep(0.05)
        return pieces

    async with serve_proxy(answer, monkeypatch), open_http(CheckedTransport([]), 10) as http:
        found = await http.get("http://93.184.216.34/.well-known/oauth-authorization-server")
    assert found.json() == {"issuer": "https://login.example"}


async def test_an_endless_answer_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        endless = web.StreamResponse()
        await endless.prepare(request)
        while True:
            await endless.write(b" " * 65536)

    async with serve_proxy(answer, monkeypatch), open_http(CheckedTransport([]), 10) as http:
        found = await http.get("http://93.184.216.34/")
    assert len(found.content) == MOST_BYTES


async def test_a_redirect_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "http://169.254.169.254/"})

    async with serve_proxy(answer, monkeypatch), open_http(CheckedTransport([]), 10) as http:
        assert (await http.get("http://93.184.216.34/")).status_code == httpx2.codes.FOUND
