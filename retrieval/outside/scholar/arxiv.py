"""arXiv (export.arxiv.org), whose answers are Atom feeds."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from lxml import etree

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.scholar.papers import find_doi
from retrieval.outside.web.ports import SearchHit, SearchQuery, strip_markup

MOST = 50
MOST_WORDS = 12
ATOM = "{http://www.w3.org/2005/Atom}"
ARXIV = "{http://arxiv.org/schemas/atom}"
_WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")
_VERSION = re.compile(r"v\d+$")


@dataclass(frozen=True)
class Arxiv:
    """arXiv's preprints. It asks for one request at a time, and three seconds between two."""

    url: str = "https://export.arxiv.org"
    provider: Provider = Provider("arxiv", per_second=0.33, at_once=1, attempt_limit=timedelta(seconds=20))
    languages: frozenset[Language] = frozenset({Language.ENGLISH})

    def build_request(self, query: SearchQuery) -> HttpRequest:
        """Ask for papers with any of the words, the best match first."""
        words = " OR ".join(f"all:{word}" for word in _WORD.findall(query.text)[:MOST_WORDS])
        if query.dated:
            first, last = (day.replace("-", "") for day in query.days("1991-01-01", "3000-12-31"))
            words = f"({words}) AND submittedDate:[{first}0000 TO {last}2359]"
        params = {"search_query": words, "start": "0", "max_results": str(min(query.limit, MOST)), "sortBy": "relevance"}
        return HttpRequest(f"{self.url}/api/query", params, headers={"Accept": "application/atom+xml"})

    def list_results(self, body: bytes) -> list[Any]:
        """Return the feed's entries of papers."""
        try:
            feed = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False))
        except etree.XMLSyntaxError as error:
            raise ValueError(f"no Atom feed: {error}") from error
        if feed.tag != f"{ATOM}feed":
            raise ValueError(f"no Atom feed but <{feed.tag}>")
        return [entry for entry in feed.iter(f"{ATOM}entry") if "/abs/" in (entry.findtext(f"{ATOM}id") or "")]

    def read_result(self, raw: Any) -> SearchHit:
        """Read one entry."""
        return _hit_of(raw)


def _hit_of(entry: etree._Element) -> SearchHit:
    identity = _VERSION.sub("", (entry.findtext(f"{ATOM}id") or "").partition("/abs/")[2])
    doi, journal = find_doi(entry.findtext(f"{ARXIV}doi")), strip_markup(entry.findtext(f"{ARXIV}journal_ref"))
    comment = strip_markup(entry.findtext(f"{ARXIV}comment"))
    return SearchHit(
        url=f"https://arxiv.org/abs/{identity}",
        title=strip_markup(entry.findtext(f"{ATOM}title")),
        text=strip_markup(entry.findtext(f"{ATOM}summary")),
        kind="paper",
        published=read_date(entry.findtext(f"{ATOM}published")),
        author=", ".join(strip_markup(name.text) for name in entry.iter(f"{ATOM}name")),
        doi=doi,
        venue=journal or "arXiv",
        retracted="withdrawn" in comment.lower(),
        preprint=not (doi or journal),
    )
