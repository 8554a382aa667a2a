"""Search providers that fail on purpose, and note who called when."""

import asyncio
import random
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import orjson
from aiohttp import web

FAULTS = ("rate limit", "rate limit with a wish", "outage", "silence", "another protocol", "half an answer", "broken connection")
# Out of a hundred faults: a quarter each of 429, 503, time-outs and garbled answers (of three kinds).
WEIGHTS = (19, 6, 25, 25, 8, 8, 9)
WISH = timedelta(seconds=1)
SILENCE = timedelta(seconds=5)
LATENCY = (0.02, 0.06)
WINDOW = timedelta(seconds=1)


@dataclass
class FaultyProviders:
    """Providers that answer in their own forms, a share `faulty` of the requests badly. `per_second`: what each one allows."""

    faulty: float
    per_second: int
    draw: random.Random
    arrivals: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    faults: Counter[str] = field(default_factory=Counter)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request to `/<provider>/...`."""
        name = request.path.split("/")[1]
        self.arrivals[name].append(asyncio.get_running_loop().time())
        await request.read()
        if self.draw.random() < self.faulty:
            fault = self.draw.choices(FAULTS, WEIGHTS)[0]
            self.faults[fault] += 1
            return await _answer_badly(request, fault)
        await asyncio.sleep(self.draw.uniform(*LATENCY))
        return web.Response(body=orjson.dumps(_make_results(name)), content_type="application/json")

    def count_calls(self) -> int:
        """Count all requests."""
        return sum(map(len, self.arrivals.values()))

    def count_over_limit(self) -> int:
        """Count requests that met `per_second` others of the same provider within the second before them."""
        return sum(count_over_limit(times, self.per_second) for times in self.arrivals.values())


def count_over_limit(times: list[float], per_second: int) -> int:
    """Count the moments (given in order) that have `per_second` others or more in the second that ends with them."""
    window = WINDOW.total_seconds()
    return sum(place - bisect_right(times, at - window, 0, place) >= per_second for place, at in enumerate(times))


async def _answer_badly(request: web.Request, fault: str) -> web.StreamResponse:
    if fault == "silence":
        await asyncio.sleep(SILENCE.total_seconds())
    if fault == "broken connection" and request.transport is not None:
        request.transport.abort()
    wish = {"Retry-After": f"{WISH.total_seconds():.0f}"} if fault == "rate limit with a wish" else {}
    if fault.startswith("rate limit"):
        return web.Response(status=429, headers=wish)
    if fault == "outage":
        return web.Response(status=503, text="down for maintenance")
    if fault == "another protocol":
        return web.Response(text="<html><h1>Welcome</h1></html>", content_type="text/html")
    return web.Response(text='{"organic": [{"title": "cut', content_type="application/json")


def _make_results(name: str) -> object:
    result = {"title": "A result", "url": "https://example.org/1", "link": "https://example.org/1", "snippet": "What it says."}
    results = [{**result, "content": "What it says.", "text": "What it says.", "description": "What it says."}]
    return {"brave": {"type": "search", "web": {"results": results}}, "serper": {"organic": results}}.get(
        name, {"results": results}
    )


@asynccontextmanager
async def serve_providers(providers: FaultyProviders) -> AsyncIterator[str]:
    """Serve on a port of this machine; yield the address."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", providers.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://{runner.addresses[0][0]}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
