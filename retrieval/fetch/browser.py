"""A renderer of pages that are empty until their scripts run, in a browser without a network of its own.

The guarded fetcher answers every request of the page. The browser's own proxy does not exist and its resolver knows no name, so
that traffic which is not routed to us (sockets, prefetching) reaches nothing. The renderer needs the package `playwright` and a
Chromium on this machine.
"""

import asyncio
import os
from datetime import timedelta
from pathlib import Path

from playwright.async_api import Browser, Page, Playwright, Route, async_playwright
from playwright.async_api import Error as PlaywrightError
from yarl import URL

from app.domain.errors import ToolError
from retrieval.fetch.errors import PageRefused
from retrieval.fetch.fetching import FetchedPage, Fetcher

RENDER_LIMIT = timedelta(seconds=15)
MAX_REQUESTS = 80
NOWHERE = "http://127.0.0.1:9"
FETCHED_KINDS = ("document", "script", "stylesheet", "xhr", "fetch")
FLAGS = ("--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking", "--disable-quic", "--no-first-run")


class PageRenderer:
    """A renderer of pages, one at a time, each in its own context. Close it. It belongs to the event loop of its first call."""

    def __init__(self, executable: Path, fetcher: Fetcher) -> None:
        self._executable = executable
        self._fetcher = fetcher
        self._turn = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    async def render(self, url: str) -> FetchedPage:
        """Return the page after its scripts ran. Raises `PageRefused` when the browser cannot show it."""
        async with self._turn:
            try:
                async with asyncio.timeout(2 * RENDER_LIMIT.total_seconds()):
                    return await self._render(url)
            except (PlaywrightError, TimeoutError) as error:
                raise PageRefused("the page could not be shown by the browser") from error

    async def close(self) -> None:
        """End the browser."""
        if self._browser is not None:
            await self._browser.close()
        if self._playwright is not None:
            await self._playwright.stop()
        self._browser = self._playwright = None

    async def _render(self, url: str) -> FetchedPage:
        browser = await self._open_browser()
        agent = self._fetcher.policy.user_agent
        context = await browser.new_context(user_agent=agent, accept_downloads=False, service_workers="block")
        try:
            await context.route("**/*", _PageRequests(self._fetcher).answer)
            page = await context.new_page()
            await page.goto(url, wait_until="networkidle", timeout=RENDER_LIMIT.total_seconds() * 1_000)
            return await _read_page(page)
        finally:
            await context.close()

    async def _open_browser(self) -> Browser:
        if self._browser is None or not self._browser.is_connected():
            self._playwright = self._playwright or await async_playwright().start()
            self._browser = await self._playwright.chromium.launch(
                executable_path=self._executable,
                args=list(FLAGS),
                proxy={"server": NOWHERE, "bypass": "<-loopback>"},
                chromium_sandbox=os.geteuid() != 0,  # Chromium's sandbox refuses to work for root
            )
        return self._browser


async def _read_page(page: Page) -> FetchedPage:
    return FetchedPage(page.url, "text/html", "utf-8", (await page.content()).encode("utf-8", "replace"))


class _PageRequests:
    """The requests of one page, and their answers."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._left = MAX_REQUESTS

    async def answer(self, route: Route) -> None:
        """Answer a request from the guarded fetcher, or abort it."""
        request = route.request
        self._left -= 1
        if self._left < 0 or request.method != "GET" or request.resource_type not in FETCHED_KINDS:
            await route.abort()
            return
        try:
            found = await self._fetch(request.url)
        except ToolError:
            await route.abort()
            return
        kind = f"{found.content_type}; charset={found.charset}" if found.charset else found.content_type
        await route.fulfill(status=200, body=found.body, headers={"Content-Type": kind, "Access-Control-Allow-Origin": "*"})

    async def _fetch(self, url: str) -> FetchedPage:
        at: URL = self._fetcher.check_target(url)
        for _ in range(self._fetcher.policy.limits.redirects + 1):
            answer = await self._fetcher.fetch_once(at)
            if isinstance(answer, FetchedPage):
                return answer
            at = answer
        raise PageRefused("the server redirects too many times")
