"""The provider Europe PMC (www.ebi.ac.uk/europepmc), for the life sciences."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.scholar.papers import address, bare_doi, says_retracted
from retrieval.outside.web.ports import Hit, Reply, SearchQuery, plain

MOST = 50
PREPRINTS = "PPR"


class _Journal(Reply):
    title: str = ""


class _Issue(Reply):
    journal: _Journal = _Journal()


class _Types(Reply):
    pubType: tuple[str, ...] = ()


class _Paper(Reply):
    id: str
    source: str
    title: str = ""
    doi: str | None = None
    abstractText: str | None = None
    authorString: str = ""
    firstPublicationDate: str | None = None
    pubYear: str | None = None
    journalInfo: _Issue = _Issue()
    pubTypeList: _Types = _Types()
    license: str | None = None


class _List(Reply):
    result: tuple[_Paper, ...]


class _Results(Reply):
    resultList: _List


@dataclass(frozen=True)
class EuropePmc:
    """Europe PMC's papers and preprints, with abstracts. `contact` is an e-mail address."""

    contact: str
    url: str = "https://www.ebi.ac.uk"
    provider: Provider = Provider("europe_pmc", per_second=5, burst=3)
    languages: frozenset[Language] = frozenset({Language.ENGLISH})

    def request(self, query: SearchQuery) -> HttpRequest:
        """Ask for papers with abstracts (`core`)."""
        first, last = query.days("1500-01-01", "3000-12-31")
        text = f"({query.text}) AND FIRST_PDATE:[{first} TO {last}]" if query.dated else query.text
        params = {"query": text, "format": "json", "resultType": "core", "pageSize": str(min(query.limit, MOST))}
        return HttpRequest(f"{self.url}/europepmc/webservices/rest/search", {**params, "email": self.contact})

    def read(self, body: bytes) -> Sequence[Hit]:
        """Read the papers that have a title."""
        return [_hit(paper) for paper in _Results.model_validate_json(body).resultList.result if paper.title]


def _hit(paper: _Paper) -> Hit:
    doi, title = bare_doi(paper.doi), plain(paper.title)
    kinds = {kind.lower() for kind in paper.pubTypeList.pubType}
    return Hit(
        url=address(doi, f"https://europepmc.org/article/{paper.source}/{paper.id}"),
        title=title,
        text=plain(paper.abstractText),
        kind="paper",
        published=read_date(paper.firstPublicationDate or paper.pubYear),
        author=plain(paper.authorString),
        doi=doi,
        venue=plain(paper.journalInfo.journal.title),
        licence=paper.license or "",
        retracted="retracted publication" in kinds or says_retracted(title),
        preprint=paper.source == PREPRINTS or "preprint" in kinds,
    )
