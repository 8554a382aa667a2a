"""The search outside: it asks providers in turn through the entrance, and returns passages that can be quoted."""

import logging
import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any

from pydantic import TypeAdapter

from app.domain.address import host_of
from app.domain.errors import ToolError
from app.domain.evidence import Passage, Source, snapshot_hash
from app.domain.query import detect_language
from app.domain.safe_text import make_safe, make_safe_line
from retrieval.outside.entrance import Entrance, OutsideAnswer
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.http import HttpExchange, HttpRequest
from retrieval.outside.scholar.papers import find_doi
from retrieval.outside.trial import FetchedAnswer, OutsideFailed
from retrieval.outside.web.ports import SearchHit, SearchProvider, SearchQuery
from retrieval.ports import OutsideResult

PATIENCE_WITH_OTHERS = timedelta(seconds=12)
PATIENCE_WITH_THE_LAST = timedelta(seconds=45)
FRESH = timedelta(minutes=5)
MAX_TEXT_CHARS = 8_000
MAX_URL_CHARS = 2_000
_RESULTS = TypeAdapter(tuple[SearchHit | None, ...])
"""What is kept of an answer: its results, with None in the place of each that could not be read."""
LONG_QUESTION_WORDS = 10
BY_MEANING = frozenset({"exa", "tavily"})
BY_WORDS = frozenset({"serper", "brave", "searxng"})
_OPERATOR = re.compile(r'"[^"]+"|\b(?:site|filetype|intitle|inurl):\S')
_PAIR = rb"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rb"\\(?:" + _PAIR + rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)
log = logging.getLogger(__name__)
_ARXIV = re.compile(r"\b(?:arxiv:\s*)?\d{4}\.\d{4,5}\b", re.IGNORECASE)


class OutsideSearch:
    """An `OutsideSearcher` of one kind (`what`: "web", "papers") over the configured providers, the preferred first."""

    def __init__(
        self,
        what: str,
        entrance: Entrance,
        http: HttpExchange,
        providers: Sequence[SearchProvider],
        since: date | None = None,
        until: date | None = None,
    ) -> None:
        self._since, self._until = since, until
        self._what = what
        self._entrance = entrance
        self._http = http
        self._providers = tuple(providers)

    def between(self, since: date | None, until: date | None) -> "OutsideSearch":
        """Return the same search for results of these days only (inclusive, None: open)."""
        return OutsideSearch(self._what, self._entrance, self._http, self._providers, since, until)

    async def search(self, text: str, limit: int) -> OutsideResult:
        """See `OutsideSearcher.search`. Return the passages of the first provider that finds any."""
        query = SearchQuery(text, limit, detect_language(text), self._since, self._until)
        told: list[str] = []
        failures = 0
        providers = sort_providers(self._providers, query)
        for provider in providers:
            last = provider is providers[-1]
            try:
                answer = await self._ask(provider, query, PATIENCE_WITH_THE_LAST if last else PATIENCE_WITH_OTHERS)
            except OutsideFailed as error:
                failures += 1
                told.append(str(error))
                continue
            results = _RESULTS.validate_json(answer.body, extra="ignore")
            passages = _passages_of(filter(None, results), limit, answer.fetched_at.date())
            odd = _note_odd(results.count(None))
            if passages:
                name = f"{provider.provider.name}{_age_note(answer)}{odd}"
                return OutsideResult(passages, "; ".join([f"{self._what}: {name}", *told]))
            told.append(f"{provider.provider.name}: nothing found{odd}")
        if failures == len(providers):
            raise ToolError(f"the search ({self._what}) failed: {'; '.join(told)}")
        return OutsideResult((), "; ".join(told))

    async def _ask(self, provider: SearchProvider, query: SearchQuery, patience: timedelta) -> OutsideAnswer:
        request = provider.build_request(query)

        async def attempt() -> FetchedAnswer:
            results = _read_results(provider, await self._http.send(request))
            texts = {snapshot_hash(hit.text): hit.text for hit in results if hit}
            return FetchedAnswer(_RESULTS.dump_json(tuple(results), exclude_defaults=True), texts)

        return await self._entrance.call(provider.provider, _name_call(request, query), attempt, patience)


def _name_call(request: HttpRequest, query: SearchQuery) -> dict[str, str | int]:
    """Name a call for the cache: by address and query, without the key."""
    dates = dict(zip(("since", "until"), query.days("", ""), strict=True)) if query.dated else {}
    return {"url": request.url, "query": query.text, "limit": query.limit, "language": query.language.value, **dates}


def read_hits(provider: SearchProvider, body: bytes) -> list[SearchHit]:
    """Read the results of a provider's answer that can be quoted and opened, each address once.

    Raises:
        CallFailed: the answer is not the provider's protocol, or says that it could not search.
    """
    return [hit for hit in _read_results(provider, body) if hit]


def _read_results(provider: SearchProvider, body: bytes) -> list[SearchHit | None]:
    """Read the results of an answer, each address once, with None in the place of each that cannot be quoted or opened."""
    try:
        raw = provider.list_results(_replace_half_characters(body))
    except ValueError as error:
        raise CallFailed(Failure.GARBLED, f"its answer has an unknown form ({type(error).__name__})") from error
    read = [_read_result(provider, each) for each in raw]
    first = {hit.url: place for place, hit in reversed(list(enumerate(read))) if hit}
    return [hit for place, hit in enumerate(read) if hit is None or first[hit.url] == place]


def _read_result(provider: SearchProvider, raw: Any) -> SearchHit | None:
    """Read one result; None for one that has no text, no address that can be opened, or another form than its provider's."""
    try:
        hit = _clean_hit(provider.read_result(raw))
        hit.text.encode()  # a lone surrogate can be neither hashed nor stored
    except ValueError as error:
        log.info("a result of %s is left out: %s", provider.provider.name, error)
        return None
    return hit if hit.text and _is_web_address(hit.url) else None


def _replace_half_characters(body: bytes) -> bytes:
    """Replace each half of an emoji in an answer's JSON: services cut by length, and one half makes the whole answer no JSON."""
    return _ESCAPE.sub(lambda found: b"\\ufffd" if found["half"] else found[0], body)


def _clean_hit(hit: SearchHit) -> SearchHit:
    """Return a result with safe words, its text bounded.

    A title stands for the text of a paper without an abstract, and an address for a title.
    """
    words = {name: make_safe_line(getattr(hit, name)) for name in ("title", "author", "doi", "venue", "licence")}
    text = make_safe(hit.text or hit.title)[:MAX_TEXT_CHARS]
    return hit.model_copy(update={**words, "title": words["title"] or hit.url, "text": text})


def _is_web_address(url: str) -> bool:
    return bool(host_of(url)) and len(url) <= MAX_URL_CHARS and url.isprintable() and " " not in url


def _passages_of(hits: Iterable[SearchHit], limit: int, fetched: date) -> tuple[Passage, ...]:
    """Make a passage of each result. Its text is its own snapshot, and `score` falls with the rank."""
    ranked = list(hits)[:limit]
    return tuple(
        Passage(source=_source_of(hit, fetched), text=hit.text, start=0, end=len(hit.text), score=1 / (1 + rank))
        for rank, hit in enumerate(ranked)
    )


def _source_of(hit: SearchHit, fetched: date) -> Source:
    same = hit.model_dump(exclude={"text"})
    return Source(snapshot=snapshot_hash(hit.text), fetched=fetched, **same)


def _note_odd(count: int) -> str:
    """Say how many results of an answer could not be read; empty for none."""
    return f" (left out as unreadable: {count})" if count else ""


def _age_note(answer: OutsideAnswer) -> str:
    if answer.age < FRESH:
        return ""
    hours = answer.age / timedelta(hours=1)
    return f" (kept for {hours:.0f} h)" if hours >= 1 else f" (kept for {answer.age / timedelta(minutes=1):.0f} min)"


def sort_providers(providers: Sequence[SearchProvider], query: SearchQuery) -> list[SearchProvider]:
    """Sort the providers in the order in which they are asked this query; equal ones stay in the given order."""
    preferred = _preferred_names(query.text)
    return sorted(providers, key=lambda p: (query.language not in p.languages, p.provider.name not in preferred))


def _preferred_names(text: str) -> frozenset[str]:
    """Return the names of the providers that serve a query of this form best."""
    if find_doi(text):
        return frozenset({"crossref"})
    if _ARXIV.search(text):
        return frozenset({"arxiv"})
    if _OPERATOR.search(text):
        return BY_WORDS
    return BY_MEANING if len(text.split()) >= LONG_QUESTION_WORDS else frozenset()
