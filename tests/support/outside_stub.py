"""A server for the world outside, which answers by script over a real socket, also as badly as servers do."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

Behaviour = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class SeenRequest:
    """A request as it arrived; `at` in seconds of the event loop's clock."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    at: float


@dataclass
class OutsideStub:
    """A server that answers each request with the next behaviour of `script`, then with `otherwise`."""

    otherwise: Behaviour
    script: deque[Behaviour] = field(default_factory=deque)
    seen: list[SeenRequest] = field(default_factory=list)
    url: str = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        at = asyncio.get_running_loop().time()
        body = orjson.loads(raw) if raw else None
        self.seen.append(SeenRequest(request.method, request.path, dict(request.query), dict(request.headers), body, at))
        behaviour = self.script.popleft() if self.script else self.otherwise
        return await behaviour(request)


def answer_with(content: Any, kind: str = "application/json") -> Behaviour:
    """Answer 200 with this content."""
    raw = content if isinstance(content, bytes) else orjson.dumps(content)

    async def behave(_: web.Request) -> web.StreamResponse:
        return web.Response(body=raw, content_type=kind)

    return behave


def refuse_with(code: int, text: str = "", **headers: str) -> Behaviour:
    """Refuse; `Retry_After="1"` becomes the header of that name."""

    async def behave(_: web.Request) -> web.StreamResponse:
        return web.Response(status=code, text=text, headers={name.replace("_", "-"): value for name, value in headers.items()})

    return behave


def answer_after(seconds: float, then: Behaviour) -> Behaviour:
    """Answer slowly."""

    async def behave(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await then(request)

    return behave


def answer_when(opened: asyncio.Event, then: Behaviour) -> Behaviour:
    """Answer once an event has happened."""

    async def behave(request: web.Request) -> web.StreamResponse:
        await opened.wait()
        return await then(request)

    return behave


async def hang_up(request: web.Request) -> web.StreamResponse:
    """Break the connection in the middle of the body."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"results": [')
    assert request.transport is not None
    request.transport.abort()
    return response


async def flood(request: web.Request) -> web.StreamResponse:
    """Send a body without end."""
    response = web.StreamResponse()
    await response.prepare(request)
    try:
        while True:
            await response.write(b" " * 65_536)
    except ConnectionError:
        return response


@asynccontextmanager
async def serve_outside(otherwise: Behaviour, *script: Behaviour) -> AsyncIterator[OutsideStub]:
    """Serve a stub; `url` is its address."""
    stub = OutsideStub(otherwise, deque(script))
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", stub.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    stub.url = f"http://{host}:{port}"
    try:
        yield stub
    finally:
        await runner.cleanup()
