"""The provider Semantic Scholar (api.semanticscholar.org)."""

from dataclasses import dataclass, field
from typing import Any

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.scholar.papers import find_doi, is_marked_retracted, is_preprint_venue, paper_address_of
from retrieval.outside.web.ports import ProviderReply, SearchHit, SearchQuery, find_results, strip_markup

MOST = 100
FIELDS = "title,abstract,tldr,venue,year,publicationDate,externalIds,url,authors"


class _Author(ProviderReply):
    name: str | None = None


class _Summary(ProviderReply):
    text: str | None = None


class _Paper(ProviderReply):
    title: str
    url: str = ""
    abstract: str | None = None
    tldr: _Summary | None = None
    venue: str | None = None
    year: int | None = None
    publicationDate: str | None = None
    externalIds: dict[str, str | int] | None = None
    authors: tuple[_Author, ...] = ()


@dataclass(frozen=True)
class SemanticScholar:
    """Semantic Scholar's papers, with abstracts. A key allows one request a second."""

    key: str = field(repr=False)
    url: str = "https://api.semanticscholar.org"
    provider: Provider = Provider("semantic_scholar", per_second=0.95)
    languages: frozenset[Language] = frozenset({Language.ENGLISH})

    def build_request(self, query: SearchQuery) -> HttpRequest:
        """Ask for papers by relevance. Its manual says that hyphenated terms find nothing."""
        params = {"query": query.text.replace("-", " "), "limit": str(min(query.limit, MOST)), "fields": FIELDS}
        if query.dated:
            params["publicationDateOrYear"] = ":".join(query.days("", ""))
        return HttpRequest(f"{self.url}/graph/v1/paper/search", params, headers={"x-api-key": self.key}, secret=self.key)

    def list_results(self, body: bytes) -> list[Any]:
        """Return the papers. An answer without papers has no list."""
        return find_results(body, ("data",), ("total", "offset"))

    def read_result(self, raw: Any) -> SearchHit:
        """Read one paper."""
        return _hit_of(_Paper.model_validate(raw))


def _hit_of(paper: _Paper) -> SearchHit:
    ids = {name: str(value) for name, value in (paper.externalIds or {}).items()}
    doi, venue = find_doi(ids.get("DOI")), strip_markup(paper.venue)
    own = f"https://arxiv.org/abs/{ids['ArXiv']}" if "ArXiv" in ids else paper.url
    return SearchHit(
        url=paper_address_of(doi, own),
        title=strip_markup(paper.title),
        text=strip_markup(paper.abstract) or strip_markup(paper.tldr.text if paper.tldr else ""),
        kind="paper",
        published=read_date(paper.publicationDate or paper.year),
        author=", ".join(author.name for author in paper.authors if author.name),
        doi=doi,
        venue=venue,
        retracted=is_marked_retracted(paper.title),
        preprint=is_preprint_venue(venue),
    )
