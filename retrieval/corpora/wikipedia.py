"""Wikipedia's dumps: `pages-articles.xml`, packed or not, single or multistream, whole or in parts."""

from collections.abc import Iterator
from datetime import date
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import quote, urlsplit

from lxml import etree

from app.domain.evidence import Source, snapshot_hash
from app.domain.safe_text import make_safe_line
from retrieval.corpora.marks import take_marks
from retrieval.corpora.ports import UnreadableItem
from retrieval.corpora.shards import Shards
from retrieval.corpora.wikitext import is_redirect, readable_text_of
from retrieval.language.dates import read_date
from retrieval.ports import Document

LICENCE = "CC BY-SA 4.0"
"""The licence of the text in dumps since June 2023; earlier dumps are under version 3.0."""
ARTICLES = "0"
"""The namespace of articles, in every language's Wikipedia."""


class WikipediaPage(NamedTuple):
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

    def read_documents(self, skip: int = 0) -> Iterator[Document | UnreadableItem]:
        """Yield one document for each article; the wikitext of the first `skip` is not parsed."""
        for item in islice(self._read_pages(), skip, None):
            yield item if isinstance(item, UnreadableItem) else _document_of(item, self._licence)

    def take_fingerprint(self) -> str:
        """See `Shards.state`."""
        return self._shards.take_fingerprint()

    def share_read(self) -> float:
        """See `Shards.share_read`."""
        return self._shards.share_read()

    def _read_pages(self) -> Iterator[WikipediaPage | UnreadableItem]:
        for name, content in self._shards.open_each():
            title = ""
            try:
                for page in _read_articles(content):
                    title = page.title
                    yield page
            except (etree.XMLSyntaxError, OSError, EOFError) as error:
                yield UnreadableItem(name, f"cut off or damaged after the article {title!r}: {error}")


def _read_articles(content: IO[bytes]) -> Iterator[WikipediaPage]:
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
        page = _page_of(site, element)
        _free_page(element)
        if page is not None:
            yield page


def _page_of(site: str, element: etree._Element) -> WikipediaPage | None:
    if element.findtext("{*}ns") != ARTICLES or element.find("{*}redirect") is not None:
        return None
    wikitext = element.findtext("{*}revision/{*}text") or ""
    if is_redirect(wikitext):
        return None
    revised = read_date(element.findtext("{*}revision/{*}timestamp"))
    return WikipediaPage(site, element.findtext("{*}title") or "", wikitext, revised)


def _free_page(element: etree._Element) -> None:
    """Free the memory of a page and of those before it, because the parser would keep the whole dump."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _document_of(page: WikipediaPage, licence: str) -> Document | UnreadableItem:
    try:
        text, blocks = take_marks(readable_text_of(page.wikitext))
    except RecursionError:
        return UnreadableItem(page.title, "is nested too deeply")
    if not text:
        return UnreadableItem(page.title, "has no text besides templates and references")
    source = Source(
        url=f"{page.site}/wiki/{quote(page.title.replace(' ', '_'), safe='/:(),')}",
        title=make_safe_line(page.title),
        snapshot=snapshot_hash(text),
        published=page.revised,
        licence=licence,
        kind="encyclopedia",
    )
    return Document(source=source, text=text, blocks=blocks)
