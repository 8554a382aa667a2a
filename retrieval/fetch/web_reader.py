"""A `PageReader` of the open web. It fetches once, follows redirects itself, parses in a child, and returns a document."""

import logging
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from yarl import URL

from app.domain.evidence import Source, snapshot_hash
from retrieval.fetch.content import HTML, READABLE, ReadableContent
from retrieval.fetch.errors import PageRefused
from retrieval.fetch.fetching import FetchedPage, Fetcher, FetchPolicy
from retrieval.fetch.parsing import PageParser
from retrieval.fetch.robots import Robots
from retrieval.language.blocks import cut_blocks
from retrieval.ports import Document

THIN_CHARS = 250

log = logging.getLogger(__name__)


class Renderer(Protocol):
    """A browser that runs a page's scripts."""

    async def render(self, url: str) -> FetchedPage:
        """Return the page after its scripts ran, with its address then. Raises `ToolError`."""
        ...

    async def close(self) -> None:
        """End the browser."""
        ...


class WebReader:
    """A reader of the open web without retries and cache, which its caller owns. Close it, or use it in `async with`.

    A page with hardly any text is read again in the browser that `renderer` makes (`browser.PageRenderer`), where one is given.
    """

    def __init__(self, policy: FetchPolicy | None = None, renderer: Callable[[Fetcher], Renderer] | None = None) -> None:
        self.fetcher = Fetcher(policy)
        self.robots = Robots(self.fetcher)
        self._parser = PageParser(self.fetcher.policy.limits.parsing)
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
        """Read the text at `url`, and return it under its final address.

        Raises:
            ToolError: the address is refused, the site disallows reading, or the page has no readable text (`fetch.errors`).
            ToolUnavailable: the server does not answer now.
        """
        page = await self._fetch(url)
        found = await self._parser.parse(page)
        if self._renderer is not None and page.content_type in HTML and len(found.text) < THIN_CHARS:
            page, found = await self._show(self._renderer, page, found)
        if not found.text:
            raise PageRefused("the page has no readable text")
        return _document_of(page.url, found, self.fetcher.policy.limits.text_chars)

    async def _show(self, renderer: Renderer, page: FetchedPage, found: ReadableContent) -> tuple[FetchedPage, ReadableContent]:
        """Return the page after its scripts ran, or as it was where that has no text. Many pages never come to rest."""
        try:
            shown = await renderer.render(page.url)
            read = await self._parser.parse(shown)
        except PageRefused as error:
            if not found.text:
                raise
            log.info("a short page is read without its scripts: %s", error)
            return page, found
        return (shown, read) if read.text else (page, found)

    async def _fetch(self, url: str) -> FetchedPage:
        at: URL = self.fetcher.check_target(url)
        for _ in range(self.fetcher.policy.limits.redirects + 1):
            await self.robots.check(at)
            answer = await self.fetcher.fetch_once(at, READABLE)
            if isinstance(answer, FetchedPage):
                return answer
            at = answer
        raise PageRefused("the server redirects too many times")


def _document_of(url: str, found: ReadableContent, longest: int) -> Document:
    text = found.text[:longest]
    source = Source(
        url=url,
        title=found.title or URL(url).host or url,
        snapshot=snapshot_hash(text),
        author=found.author,
        published=found.published,
        kind=found.kind,
    )
    blocks = cut_blocks(text, found.blocks, 0, len(text))
    return Document(source=source, text=text, hidden=found.hidden, note=found.note, blocks=blocks)
