"""The provider Serper (google.serper.dev), with results of Google and Google Scholar."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from app.domain.query import Language
from retrieval.language.dates import read_date, read_recent_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.web.ports import ProviderReply, SearchHit, SearchQuery, find_results, strip_markup

MOST = 10
_VENUE = re.compile(r" - (.*?)(?:, \d{4})?(?: - |$)")


class _Result(ProviderReply):
    link: str
    title: str = ""
    snippet: str = ""
    date: str = ""
    year: int | str | None = None
    publicationInfo: str = ""


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Serper:
    """Google's web results. The limit is the smallest plan's. `now` dates what Google says to be some days old."""

    key: str = field(repr=False)
    url: str = "https://google.serper.dev"
    provider: Provider = Provider("serper", per_second=5, burst=5)
    languages: frozenset[Language] = frozenset(Language)
    now: Callable[[], datetime] = _utc_now
    path = "/search"

    def build_request(self, query: SearchQuery) -> HttpRequest:
        """Ask for at most ten results: more cost more."""
        place = {"hl": "zh-cn", "gl": "cn"} if query.language is Language.CHINESE else {"hl": "en"}
        body = {"q": query.text, "num": min(query.limit, MOST), **place, **_date_range_of(query)}
        return HttpRequest(self.url + self.path, body=body, headers={"X-API-KEY": self.key}, secret=self.key)

    def list_results(self, body: bytes) -> list[Any]:
        """Return the organic results."""
        return find_results(body, ("organic",), ("searchParameters", "searchInformation", "credits"))

    def read_result(self, raw: Any) -> SearchHit:
        """Read one result."""
        r = _Result.model_validate(raw)
        published = read_recent_date(r.date, self.now())
        return SearchHit(url=r.link, title=strip_markup(r.title), text=strip_markup(r.snippet), published=published)


@dataclass(frozen=True)
class SerperScholar(Serper):
    """Google Scholar's results. Its snippets are short; the line of authors has the venue."""

    provider: Provider = Provider("serper_scholar", per_second=5, burst=5)
    path = "/scholar"

    def read_result(self, raw: Any) -> SearchHit:
        """Read one paper."""
        return _hit_of_paper(_Result.model_validate(raw))


def _date_range_of(query: SearchQuery) -> dict[str, str]:
    """Write Google's range of dates, with the month before the day."""
    ends = {"cd_min": query.since, "cd_max": query.until}
    said = [f"{name}:{day.month}/{day.day}/{day.year}" for name, day in ends.items() if day]
    return {"tbs": ",".join(["cdr:1", *said])} if said else {}


def _hit_of_paper(result: _Result) -> SearchHit:
    info = strip_markup(result.publicationInfo)
    venue = _VENUE.search(info)
    return SearchHit(
        url=result.link,
        title=strip_markup(result.title),
        text=strip_markup(result.snippet),
        kind="paper",
        published=read_date(result.year),
        author=info.partition(" - ")[0],
        venue=venue[1] if venue else "",
        preprint="arxiv" in info.lower(),
    )
