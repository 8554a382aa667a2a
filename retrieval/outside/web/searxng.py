"""The provider SearXNG, a self-hosted meta-search engine. Its `search.formats` must list `json`."""

from dataclasses import dataclass
from typing import Any

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.web.ports import ProviderReply, SearchHit, SearchQuery, find_results, strip_markup

CODES = {Language.ENGLISH: "en", Language.CHINESE: "zh-CN"}

JSON_ADVICE = "list `json` in its `search.formats` (settings.yml), or let its limiter pass this machine"


class _Result(ProviderReply):
    url: str
    title: str = ""
    content: str | None = None
    publishedDate: str | None = None


class _Engines(ProviderReply):
    unresponsive_engines: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class SearXNG:
    """A SearXNG instance at `url`. The limit is polite to the engines behind it."""

    url: str
    provider: Provider = Provider("searxng", per_second=2, burst=4)
    languages: frozenset[Language] = frozenset(Language)

    def build_request(self, query: SearchQuery) -> HttpRequest:
        """Ask for one page of general results."""
        params = {"q": query.text, "format": "json", "language": CODES[query.language]}
        return HttpRequest(f"{self.url}/search", params, advice=JSON_ADVICE)

    def list_results(self, body: bytes) -> list[Any]:
        """Return the merged results of all its engines.

        Raises:
            CallFailed: there is none, and engines did not answer, as when they want a CAPTCHA.
        """
        found = find_results(body, ("results",), ("query", "number_of_results", "answers", "infoboxes", "unresponsive_engines"))
        away = _Engines.model_validate_json(body).unresponsive_engines
        if not found and away:
            engines = ", ".join(f"{name} ({'; '.join(why)})" for name, *why in away)
            # SearXNG itself is well, and some engine may always be away: no reason to leave it alone.
            raise CallFailed(Failure.RATE_LIMITED, f"its engines do not answer: {engines}")
        return found

    def read_result(self, raw: Any) -> SearchHit:
        """Read one result."""
        r = _Result.model_validate(raw)
        return SearchHit(
            url=r.url,
            title=strip_markup(r.title),
            text=strip_markup(r.content),
            published=read_date(r.publishedDate),
        )
