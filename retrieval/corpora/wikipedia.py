"""Wikipedia's dumps: `pages-articles.xml`, packed or not, single or multistream, whole or in parts."""

from collections.abc import Iterator
from datetime import date
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import quote, urlsplit

from lxml import etree

from app.domain.evidence import Source, snapshot_hash
from retrieval.corpora.ports import Unreadable
from retrieval.corpora.shards import Shards
from retrieval.corpora.wikitext import is_redirect, plain_text
from retrieval.language.dates import read_date
from retrieval.ports import Document

LICENCE = "CC BY-SA 4.0"
"""The licence of the text in dumps since June 2023; earlier dumps are under version 3.0."""
ARTICLES = "0"
"""The namespace of articles, in every language's Wikipedia."""


class Page(NamedTuple):
    """An article of the dump. `site` is its wiki's address, such as `https://en.wikipedia.org`."""

    site: str
    title: str
    wikitext: str
    revised: date | None


class WikipediaDump:
    """The articles of a dump: a file, or a folder with its parts. Redirects and other pages are left out."""

    def __init__(self, path: Path, licence: str = "") -> None:
        self._shards = Shards(path, (".xml",))
        self._licence = licence or LICENCE

    def documents(self, skip: int = 0) -> Iterator[Document | Unreadable]:
        """Yield one document for each article; the wikitext of the first `skip` is not parsed."""
        for item in islice(self._pages(), skip, None):
            yield item if isinstance(item, Unreadable) else _document(item, self._licence)

    def state(self) -> str:
        """See `Shards.state`."""
        return self._shards.state()

    def share_read(self) -> float:
        """See `Shards.share_read`."""
        return self._shards.share_read()

    def _pages(self) -> Iterator[Page | Unreadable]:
        for name, content in self._shards.contents():
            title = ""
            try:
                for page in _articles(content):
                    title = page.title
                    yield page
            except (etree.XMLSyntaxError, OSError, EOFError) as error:
                yield Unreadable(name, f"cut off or damaged after the article {title!r}: {error}")


def _articles(content: IO[bytes]) -> Iterator[Page]:
    """Yield the articles of one file. Entities are not resolved and nothing is fetched; the parser's own limits hold."""
    parsed = etree.iterparse(
        content, tag=("{*}base", "{*}page"), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    site = "https://en.wikipedia.org"
    for _, element in parsed:
        if etree.QName(element).localname == "base":
            parts = urlsplit(element.text or site)
            site = f"{parts.scheme}://{parts.netloc}"
            continue
        page = _page(site, element)
        _forget(element)
        if page is not None:
            yield page


def _page(site: str, element: etree._Element) -> Page | None:
    if element.findtext("{*}ns") != ARTICLES or element.find("{*}redirect") is not None:
        return None
    wikitext = element.findtext("{*}revision/{*}text") or ""
    if is_redirect(wikitext):
        return None
    revised = read_date(element.findtext("{*}revision/{*}timestamp"))
    return Page(site, element.findtext("{*}title") or "", wikitext, revised)


def _forget(element: etree._Element) -> None:
    """Free the memory of a page and of those before it, because the parser would keep the whole dump."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _document(page: Page, licence: str) -> Document | Unreadable:
    try:
        text = plain_text(page.wikitext)
    except RecursionError:
        return Unreadable(page.title, "is nested too deeply")
    if not text:
        return Unreadable(page.title, "has no text besides templates and references")
    source = Source(
        url=f"{page.site}/wiki/{quote(page.title.replace(' ', '_'), safe='/:(),')}",
        title=page.title,
        snapshot=snapshot_hash(text),
        published=page.revised,
        licence=licence,
        kind="encyclopedia",
    )
    return Document(source=source, text=text)
