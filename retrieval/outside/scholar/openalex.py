"""The provider OpenAlex (api.openalex.org)."""

from dataclasses import dataclass, field
from typing import Any

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.scholar.papers import find_doi, is_marked_retracted, paper_address_of
from retrieval.outside.web.ports import ProviderReply, SearchHit, SearchQuery, find_results, strip_markup

MOST = 100
MOST_WORDS = 5_000
FIELDS = "id,doi,title,publication_date,type,is_retracted,primary_location,authorships,abstract_inverted_index"


class _Venue(ProviderReply):
    display_name: str | None = None


class _Location(ProviderReply):
    source: _Venue | None = None
    license: str | None = None


class _Author(ProviderReply):
    display_name: str | None = None


class _Authorship(ProviderReply):
    author: _Author = _Author()


class _Work(ProviderReply):
    id: str
    doi: str | None = None
    title: str
    publication_date: str | None = None
    type: str | None = None
    is_retracted: bool = False
    primary_location: _Location | None = None
    authorships: tuple[_Authorship, ...] = ()
    abstract_inverted_index: dict[str, tuple[int, ...]] | None = None


@dataclass(frozen=True)
class OpenAlex:
    """OpenAlex's works, of all kinds and languages. Its key is free; each search uses a little of a daily allowance."""

    key: str = field(repr=False)
    url: str = "https://api.openalex.org"
    provider: Provider = Provider("openalex", per_second=10, burst=5)
    languages: frozenset[Language] = frozenset(Language)

    def build_request(self, query: SearchQuery) -> HttpRequest:
        """Ask for works by relevance."""
        params = {"search": query.text, "per_page": str(min(query.limit, MOST)), "select": FIELDS, "api_key": self.key}
        if query.dated:
            ends = zip(("from_publication_date", "to_publication_date"), query.days("", ""), strict=True)
            params["filter"] = ",".join(f"{name}:{day}" for name, day in ends if day)
        return HttpRequest(f"{self.url}/works", params, secret=self.key)

    def list_results(self, body: bytes) -> list[Any]:
        """Return the works."""
        return find_results(body, ("results",), ("meta", "group_by"))

    def read_result(self, raw: Any) -> SearchHit:
        """Read one work, which must have a title."""
        return _hit_of(_Work.model_validate(raw))


def _hit_of(work: _Work) -> SearchHit:
    doi, title = find_doi(work.doi), strip_markup(work.title)
    location = work.primary_location or _Location()
    return SearchHit(
        url=paper_address_of(doi, work.id),
        title=title,
        text=_join_abstract(work.abstract_inverted_index or {}),
        kind="paper",
        published=read_date(work.publication_date),
        author=", ".join(a.author.display_name for a in work.authorships if a.author.display_name),
        doi=doi,
        venue=strip_markup(location.source.display_name if location.source else ""),
        licence=location.license or "",
        retracted=work.is_retracted or is_marked_retracted(title),
        preprint=work.type == "preprint",
    )


def _join_abstract(index: dict[str, tuple[int, ...]]) -> str:
    """Join an abstract from OpenAlex's index, which lists the places of each word."""
    placed = sorted((place, word) for word, places in index.items() for place in places[:MOST_WORDS])
    return strip_markup(" ".join(word for _, word in placed[:MOST_WORDS]))
