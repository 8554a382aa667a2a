"""The provider Serper (google.serper.dev), with results of Google and Google Scholar."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.domain.query import Language
from retrieval.language.dates import read_date
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.web.ports import Hit, Reply, SearchQuery, plain

MOST = 10
_VENUE = re.compile(r" - (.*?)(?:, \d{4})?(?: - |$)")


class _Result(Reply):
    title: str
    link: str = ""
    snippet: str = ""
    date: str = ""
    year: int | str | None = None
    publicationInfo: str = ""


class _Results(Reply):
    organic: tuple[_Result, ...]


@dataclass(frozen=True)
class Serper:
    """Google's web results. The limit is the smallest plan's."""

    key: str = field(repr=False)
    url: str = "https://google.serper.dev"
    provider: Provider = Provider("serper", per_second=5, burst=5)
    languages: frozenset[Language] = frozenset(Language)
    path = "/search"

    def request(self, query: SearchQuery) -> HttpRequest:
        """Ask for at most ten results: more cost more."""
        place = {"hl": "zh-cn", "gl": "cn"} if query.language is Language.CHINESE else {"hl": "en"}
        body = {"q": query.text, "num": min(query.limit, MOST), **place, **_range(query)}
        return HttpRequest(self.url + self.path, body=body, headers={"X-API-KEY": self.key}, secret=self.key)

    def read(self, body: bytes) -> Sequence[Hit]:
        """Read the organic results."""
        return [
            Hit(url=r.link, title=plain(r.title), text=plain(r.snippet), published=read_date(r.date))
            for r in _Results.model_validate_json(body).organic
        ]


@dataclass(frozen=True)
class SerperScholar(Serper):
    """Google Scholar's results. Its snippets are short; the line of authors has the venue."""

    provider: Provider = Provider("serper_scholar", per_second=5, burst=5)
    path = "/scholar"

    def read(self, body: bytes) -> Sequence[Hit]:
        """Read the papers."""
        return [_paper(r) for r in _Results.model_validate_json(body).organic]


def _range(query: SearchQuery) -> dict[str, str]:
    """Write Google's range of dates, with the month before the day."""
    ends = {"cd_min": query.since, "cd_max": query.until}
    said = [f"{name}:{day.month}/{day.day}/{day.year}" for name, day in ends.items() if day]
    return {"tbs": ",".join(["cdr:1", *said])} if said else {}


def _paper(result: _Result) -> Hit:
    info = plain(result.publicationInfo)
    venue = _VENUE.search(info)
    return Hit(
        url=result.link,
        title=plain(result.title),
        text=plain(result.snippet),
        kind="paper",
        published=read_date(result.year),
        author=info.partition(" - ")[0],
        venue=venue[1] if venue else "",
        preprint="arxiv" in info.lower(),
    )
