"""The provider Crossref (api.crossref.org)."""

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.scholar.papers import find_doi, is_marked_retracted, paper_address_of
from retrieval.outside.web.ports import ProviderReply, SearchHit, SearchQuery, find_results, strip_markup

MOST = 20
WITHDRAWING = frozenset({"retraction", "withdrawal", "removal"})


class _Author(ProviderReply):
    given: str = ""
    family: str = ""
    name: str = ""


class _When(ProviderReply):
    date_parts: tuple[tuple[int | None, ...], ...] = Field(default=(), alias="date-parts")


class _Update(ProviderReply):
    type: str = ""


class _Licence(ProviderReply):
    URL: str = ""


class _Work(ProviderReply):
    DOI: str
    title: tuple[str, ...] = Field(min_length=1)
    abstract: str | None = None
    container_title: tuple[str, ...] = Field(default=(), alias="container-title")
    issued: _When = _When()
    author: tuple[_Author, ...] = ()
    type: str = ""
    subtype: str | None = None
    updated_by: tuple[_Update, ...] = Field(default=(), alias="updated-by")
    license: tuple[_Licence, ...] = ()


@dataclass(frozen=True)
class Crossref:
    """Crossref's works: everything with a DOI; abstracts where the publisher gives them. `contact` is an e-mail address."""

    contact: str
    url: str = "https://api.crossref.org"
    provider: Provider = Provider("crossref", per_second=5, burst=3, at_once=3)
    languages: frozenset[Language] = frozenset(Language)

    def build_request(self, query: SearchQuery) -> HttpRequest:
        """Ask for works by relevance."""
        params = {"query": query.text, "rows": str(min(query.limit, MOST)), "mailto": self.contact}
        if query.dated:
            ends = zip(("from-pub-date", "until-pub-date"), query.days("", ""), strict=True)
            params["filter"] = ",".join(f"{name}:{day}" for name, day in ends if day)
        return HttpRequest(f"{self.url}/works", params)

    def list_results(self, body: bytes) -> list[Any]:
        """Return the works."""
        return find_results(body, ("message", "items"), ("message-type", "message-version"))

    def read_result(self, raw: Any) -> SearchHit:
        """Read one work, which must have a title."""
        return _hit_of(_Work.model_validate(raw))


def _hit_of(work: _Work) -> SearchHit:
    doi, title = find_doi(work.DOI), strip_markup(work.title[0])
    parts = [part for part in (work.issued.date_parts or ((),))[0] if part]
    day = "-".join(f"{part:02}" for part in parts)
    return SearchHit(
        url=paper_address_of(doi, f"https://doi.org/{work.DOI}"),
        title=title,
        text=strip_markup(work.abstract),
        kind="paper",
        published=read_date(day),
        author=", ".join(filter(None, (a.name or f"{a.given} {a.family}".strip() for a in work.author))),
        doi=doi,
        venue=strip_markup(work.container_title[0]) if work.container_title else "",
        licence=work.license[0].URL if work.license else "",
        retracted=any(update.type in WITHDRAWING for update in work.updated_by) or is_marked_retracted(title),
        preprint=work.type == "posted-content" and work.subtype == "preprint",
    )
