"""The provider Exa (api.exa.ai), which searches by meaning."""

from dataclasses import dataclass, field
from typing import Any

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.web.ports import ProviderReply, SearchHit, SearchQuery, find_results, strip_markup

MOST = 25
TEXT_CHARS = 1_500


class _Result(ProviderReply):
    url: str
    title: str | None = None
    text: str | None = None
    author: str | None = None
    publishedDate: str | None = None


@dataclass(frozen=True)
class Exa:
    """Exa's results, with the beginning of each page's text."""

    key: str = field(repr=False)
    url: str = "https://api.exa.ai"
    provider: Provider = Provider("exa", per_second=5, burst=5)
    languages: frozenset[Language] = frozenset({Language.ENGLISH})

    def build_request(self, query: SearchQuery) -> HttpRequest:
        """Ask for results. Exa itself chooses between words and meaning."""
        text = {"text": {"maxCharacters": TEXT_CHARS}}
        first, last = query.days("", "")
        days = (("startPublishedDate", first, "T00:00:00.000Z"), ("endPublishedDate", last, "T23:59:59.999Z"))
        dates = {name: f"{day}{time}" for name, day, time in days if day}
        body = {"query": query.text, "numResults": min(query.limit, MOST), "type": "auto", "contents": text, **dates}
        return HttpRequest(f"{self.url}/search", body=body, headers={"x-api-key": self.key}, secret=self.key)

    def list_results(self, body: bytes) -> list[Any]:
        """Return the results."""
        return find_results(
            body, ("results",), ("requestId", "autopromptString", "resolvedSearchType", "searchType", "costDollars")
        )

    def read_result(self, raw: Any) -> SearchHit:
        """Read one result."""
        r = _Result.model_validate(raw)
        return SearchHit(
            url=r.url,
            title=strip_markup(r.title),
            text=strip_markup(r.text),
            author=strip_markup(r.author),
            published=read_date(r.publishedDate),
        )
