"""The provider Tavily (api.tavily.com)."""

from dataclasses import dataclass, field
from typing import Any

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.web.ports import ProviderReply, SearchHit, SearchQuery, find_results, strip_markup

MOST = 20


class _Result(ProviderReply):
    url: str
    title: str = ""
    content: str = ""
    published_date: str | None = None


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

    def list_results(self, body: bytes) -> list[Any]:
        """Return the results."""
        return find_results(body, ("results",), ("query", "answer", "images", "follow_up_questions", "response_time"))

    def read_result(self, raw: Any) -> SearchHit:
        """Read one result."""
        r = _Result.model_validate(raw)
        published = read_date(r.published_date)
        return SearchHit(url=r.url, title=strip_markup(r.title), text=strip_markup(r.content), published=published)
