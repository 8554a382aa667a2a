"""The provider Europe PMC (www.ebi.ac.uk/europepmc), for the life sciences."""

from dataclasses import dataclass
from typing import Any

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.scholar.papers import find_doi, is_marked_retracted, paper_address_of
from retrieval.outside.web.ports import ProviderReply, SearchHit, SearchQuery, find_results, strip_markup

MOST = 50
PREPRINTS = "PPR"


class _Journal(ProviderReply):
    title: str = ""


class _Issue(ProviderReply):
    journal: _Journal = _Journal()


class _Types(ProviderReply):
    pubType: tuple[str, ...] = ()


class _Paper(ProviderReply):
    id: str
    source: str
    title: str
    doi: str | None = None
    abstractText: str | None = None
    authorString: str = ""
    firstPublicationDate: str | None = None
    pubYear: str | None = None
    journalInfo: _Issue = _Issue()
    pubTypeList: _Types = _Types()
    license: str | None = None


@dataclass(frozen=True)
class EuropePmc:
    """Europe PMC's papers and preprints, with abstracts. `contact` is an e-mail address."""

    contact: str
    url: str = "https://www.ebi.ac.uk"
    provider: Provider = Provider("europe_pmc", per_second=5, burst=3)
    languages: frozenset[Language] = frozenset({Language.ENGLISH})

    def build_request(self, query: SearchQuery) -> HttpRequest:
        """Ask for papers with abstracts (`core`)."""
        first, last = query.days("1500-01-01", "3000-12-31")
        text = f"({query.text}) AND FIRST_PDATE:[{first} TO {last}]" if query.dated else query.text
        params = {"query": text, "format": "json", "resultType": "core", "pageSize": str(min(query.limit, MOST))}
        return HttpRequest(f"{self.url}/europepmc/webservices/rest/search", {**params, "email": self.contact})

    def list_results(self, body: bytes) -> list[Any]:
        """Return the papers."""
        return find_results(body, ("resultList", "result"), ("hitCount", "version"))

    def read_result(self, raw: Any) -> SearchHit:
        """Read one paper, which must have a title."""
        return _hit_of(_Paper.model_validate(raw))


def _hit_of(paper: _Paper) -> SearchHit:
    doi, title = find_doi(paper.doi), strip_markup(paper.title)
    kinds = {kind.lower() for kind in paper.pubTypeList.pubType}
    return SearchHit(
        url=paper_address_of(doi, f"https://europepmc.org/article/{paper.source}/{paper.id}"),
        title=title,
        text=strip_markup(paper.abstractText),
        kind="paper",
        published=read_date(paper.firstPublicationDate or paper.pubYear),
        author=strip_markup(paper.authorString),
        doi=doi,
        venue=strip_markup(paper.journalInfo.journal.title),
        licence=paper.license or "",
        retracted="retracted publication" in kinds or is_marked_retracted(title),
        preprint=paper.source == PREPRINTS or "preprint" in kinds,
    )
