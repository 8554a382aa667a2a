"""An endpoint for webhooks: a real server that may be slow, answer anything, or redirect."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from aiohttp import web


@dataclass
class WebhookRequest:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebhookReceiver:
    """An endpoint that gives `statuses` to the next requests in turn; then 204.

    The path `/slow` answers once `let_go` is set, `/garbage` not in HTTP.
    """

    url: str = ""
    requests: list[WebhookRequest] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    redirect_to: str = ""
    came: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait_for(self, count: int, path: str = "/hook") -> list[WebhookRequest]:
        """Wait for so many requests to a path."""
        while len(found := [request for request in self.requests if request.path == path]) < count:
            self.came.clear()
            await self.came.wait()
        return found

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Keep the request, then do what the path says."""
        self.requests.append(
            WebhookRequest(request.path, {k.lower(): v for k, v in request.headers.items()}, await request.read())
        )
        self.came.set()
        if request.path == "/slow":
            await self.let_go.wait()
        if request.path == "/redirect":
            raise web.HTTPTemporaryRedirect(self.redirect_to)
        if request.path == "/garbage":
            assert request.transport is not None
            request.transport.write(b"\x00\xffnot http at all\r\n\r\n" * 100)  # type: ignore[attr-defined]
            request.transport.close()
        if request.path == "/endless":
            response = web.StreamResponse(status=500)
            await response.prepare(request)
            while True:
                await response.write(b"x" * 65_536)
        return web.Response(status=self.statuses.pop(0) if self.statuses else 204, text="<script>no</script>")


@contextlib.asynccontextmanager
async def serve_receiver() -> AsyncIterator[WebhookReceiver]:
    """Serve the endpoint on a free port of the loopback address."""
    receiver = WebhookReceiver()
    application = web.Application()
    application.router.add_route("*", "/{rest:.*}", receiver.answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield receiver
    finally:
        await runner.cleanup()
