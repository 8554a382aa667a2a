"""The provider Tavily (api.tavily.com)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.web.ports import ProviderReply, SearchHit, SearchQuery, strip_markup

MOST = 20


class _Result(ProviderReply):
    title: str
    url: str
    content: str = ""
    published_date: str | None = None


class _Results(ProviderReply):
    results: tuple[_Result, ...]


@dataclass(frozen=True)
class Tavily:
    """Tavily's web results for models. The limit is a development key's (100 a minute)."""

    key: str = field(repr=False)
    url: str = "https://api.tavily.com"
    provider: Provider = Provider("tavily", per_second=1.5, burst=5)
    languages: frozenset[Language] = frozenset({Language.ENGLISH})

    def build_request(self, query: SearchQuery) -> HttpRequest:
        """Ask for a basic search, which costs one credit."""
        first, last = query.days("", "")
        dates = {name: day for name, day in (("start_date", first), ("end_date", last)) if day}
        body = {"query": query.text, "max_results": min(query.limit, MOST), "search_depth": "basic", **dates}
        return HttpRequest(f"{self.url}/search", body=body, headers={"Authorization": f"Bearer {self.key}"}, secret=self.key)

    def read(self, body: bytes) -> Sequence[SearchHit]:
        """Read the results."""
        return [
            SearchHit(url=r.url, title=strip_markup(r.title), text=strip_markup(r.content), published=read_date(r.published_date))
            for r in _Results.model_validate_json(body).results
        ]
