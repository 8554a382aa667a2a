"""`PageReader` over the open web: fetch once, follow redirects by hand, parse elsewhere, return an immutable document."""

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from yarl import URL

from app.domain.evidence import Source, snapshot_hash
from retrieval.fetch.content import HTML, READABLE, Readable
from retrieval.fetch.errors import PageRefused
from retrieval.fetch.fetching import Fetched, Fetcher, Policy
from retrieval.fetch.parsing import Parser
from retrieval.fetch.robots import Robots
from retrieval.ports import Document

THIN_CHARS = 250


class Renderer(Protocol):
    """Runs a page's scripts; gives the page as it then is, from the address at which it then is."""

    async def render(self, url: str) -> Fetched:
        """The page after its scripts ran. Raises `ToolError`."""
        ...

    async def close(self) -> None:
        """End the browser."""
        ...


class WebReader:
    """Reads pages of the open web. It neither retries nor caches: its caller owns both. Close it, or use it in `async with`.

    A page with hardly any text of its own is read once more through what `renderer` makes (`browser.ScriptedPages`), where given.
    """

    def __init__(self, policy: Policy | None = None, renderer: Callable[[Fetcher], Renderer] | None = None) -> None:
        self.fetcher = Fetcher(policy)
        self.robots = Robots(self.fetcher)
        self._parser = Parser(self.fetcher.policy.limits.parsing)
        self._renderer = renderer(self.fetcher) if renderer else None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close connections and child processes."""
        await self.fetcher.close()
        await self._parser.close()
        if self._renderer is not None:
            await self._renderer.close()

    async def read(self, url: str) -> Document:
        """The readable text at `url`, under its final address.

        Raises:
            ToolError: the address is refused, the site does not want it read, or there is nothing readable (`fetch.errors`).
            ToolUnavailable: the server does not answer now.
        """
        page = await self._fetched(url)
        found = await self._parser.parse(page)
        if self._renderer is not None and page.content_type in HTML and len(found.text) < THIN_CHARS:
            page = await self._renderer.render(page.url)
            found = await self._parser.parse(page)
        if not found.text:
            raise PageRefused("the page has no readable text")
        return _document(page.url, found, self.fetcher.policy.limits.text_chars)

    async def _fetched(self, url: str) -> Fetched:
        at: URL = self.fetcher.target(url)
        for _ in range(self.fetcher.policy.limits.redirects + 1):
            await self.robots.check(at)
            answer = await self.fetcher.hop(at, READABLE)
            if isinstance(answer, Fetched):
                return answer
            at = answer
        raise PageRefused("the server sends on and on")


def _document(url: str, found: Readable, longest: int) -> Document:
    text = found.text[:longest]
    source = Source(
        url=url,
        title=found.title or URL(url).host or url,
        snapshot=snapshot_hash(text),
        author=found.author,
        published=found.published,
        kind=found.kind,
    )
    return Document(source=source, text=text, hidden=found.hidden)
