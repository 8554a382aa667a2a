"""The provider Brave Search (api.search.brave.com)."""

from dataclasses import dataclass, field
from typing import Any

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.web.ports import ProviderReply, SearchHit, SearchQuery, find_results, strip_markup

MOST = 20
MOST_WORDS = 50
CODES = {Language.ENGLISH: "en", Language.CHINESE: "zh-hans"}


class _Result(ProviderReply):
    url: str
    title: str = ""
    description: str = ""
    page_age: str | None = None
    extra_snippets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Brave:
    """Results of Brave's own index. The limit is the smallest plan's: one request a second."""

    key: str = field(repr=False)
    url: str = "https://api.search.brave.com"
    provider: Provider = Provider("brave", per_second=0.95)
    languages: frozenset[Language] = frozenset(Language)

    def build_request(self, query: SearchQuery) -> HttpRequest:
        """Ask for web results only. Brave refuses queries of more than fifty words."""
        words = " ".join(query.text.split()[:MOST_WORDS])
        params = {"q": words, "count": str(min(query.limit, MOST)), "search_lang": CODES[query.language], "result_filter": "web"}
        if query.since and query.until:  # Brave has no range with an open end
            params["freshness"] = "to".join(query.days("", ""))
        headers = {"X-Subscription-Token": self.key}
        return HttpRequest(f"{self.url}/res/v1/web/search", {**params, "text_decorations": "0"}, headers=headers, secret=self.key)

    def list_results(self, body: bytes) -> list[Any]:
        """Return the results of the web. An answer without results has no list."""
        return find_results(body, ("web", "results"), ("type", "query", "mixed"))

    def read_result(self, raw: Any) -> SearchHit:
        """Read one result."""
        r = _Result.model_validate(raw)
        return SearchHit(
            url=r.url,
            title=strip_markup(r.title),
            text="\n".join(filter(None, map(strip_markup, (r.description, *r.extra_snippets)))),
            published=read_date(r.page_age),
        )
