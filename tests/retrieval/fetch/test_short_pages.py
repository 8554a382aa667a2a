"""Pages with hardly any text, which are read again in a browser where there is one."""

import pytest

from bench.web_listeners import PageReply
from retrieval.fetch.errors import PageRefused
from retrieval.fetch.fetching import FetchedPage
from retrieval.fetch.web_reader import WebReader
from tests.retrieval.fetch.small_web import serve_small_web


class Browser:
    """A renderer that shows what it is given, or cannot show the page."""

    def __init__(self, shown: bytes | None) -> None:
        self.shown = shown

    async def render(self, url: str) -> FetchedPage:
        if self.shown is None:
            raise PageRefused("the page could not be shown by the browser")
        return FetchedPage(url, "text/html", "utf-8", self.shown)

    async def close(self) -> None:
        """There is nothing to end."""


@pytest.mark.parametrize(
    ("shown", "text"),
    [(None, "Closed on Mondays."), (b"<p></p>", "Closed on Mondays."), (b"<p>Closed on Mondays and in May.</p>", "in May.")],
)
async def test_a_short_page_is_read_though_the_browser_cannot_show_it(shown: bytes | None, text: str) -> None:
    replies = {"/a": PageReply(b"<html><body><p>Closed on Mondays.</p></body></html>"), "/e": PageReply(b"<html></html>")}
    async with serve_small_web(replies) as web, WebReader(web.policy, lambda _: Browser(shown)) as reader:
        assert (await reader.read(web.make_url("/a"))).text.endswith(text)
        if shown is None:
            with pytest.raises(PageRefused, match="by the browser"):
                await reader.read(web.make_url("/e"))
