"""`search` over the run's collections and, where one is configured, the web; `scholar` over scientific papers."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from datetime import date
from itertools import zip_longest
from typing import Any

from app.domain.chat import ToolResult
from app.domain.errors import ToolError, ToolUnavailable
from app.domain.evidence import Passage
from app.domain.reading import Reading
from app.domain.tool_key import normalise_text
from retrieval.language.years import YearSpan, find_years, remove_years
from retrieval.ports import Comparer, OutsideResult, OutsideSearcher, Rater, Searcher, SearchFilter, Speller
from workflows.agents.concurrency import settle_all
from workflows.tools.screening import screen_passages

QUERY_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
    "additionalProperties": False,
}
MAX_QUERY_CHARS = 2_000
MOST_OUTSIDE_CHARS = 400
"""What services outside take; the index reads a question with its whole story."""
MAX_PASSAGES = 100
KEPT_INSIDE = "no service outside was asked: the query repeats a private source word for word; ask in your own words"
MAX_OUTSIDE = 10


class SearchTool:
    """Searches passages for a query, best first: in the index (None: there is no index to search), outside, or both.

    `where` may be several filters: each is searched, and their results are interleaved. Passages that try to instruct their
    reader are left out, unless `withholds` is false.
    """

    name = "search"
    indexed, outside = "documents", "the web"
    """What it searches, in words of its description."""
    parameters = QUERY_SCHEMA

    def __init__(
        self,
        searcher: Searcher | None,
        where: SearchFilter | Sequence[SearchFilter],
        limit: int = 6,
        outside: OutsideSearcher | None = None,
        withholds: bool = True,
    ) -> None:
        self._searcher = searcher
        self._where = (where,) if isinstance(where, SearchFilter) else tuple(where)
        self._limit = limit
        self._outside = outside
        self._withholds = withholds
        there = [self.indexed] * (searcher is not None and bool(self._where)) + [self.outside] * (outside is not None)
        self.description = (
            f"Search {' and '.join(dict.fromkeys(there)) or self.indexed}; returns the passages that fit the query best"
        )
        self.description += ", first those of the years that it names." if searcher is not None else "."

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Search once. Agents without a model may ask for more passages than usual by `limit` (at most 100).

        A query that names years is also made without them, of sources dated in them: "before 1900" alone finds texts that
        mention 1900.

        With `respell` the query is no search: each of its words that is unknown here is returned with its likely spelling. Nor is
        it with `compare` or `rate`, lists of texts: their cosines with the query are returned, or how well they answer it. With
        `inside` no service outside is asked.

        Raises:
            ToolError: there is no query, or neither the index nor a search outside can answer.
        """
        query = normalise_text(str(arguments.get("query", "")))[:MAX_QUERY_CHARS]
        if not query:
            raise ToolError("the query is empty; write what you look for")
        if arguments.get("respell"):
            return ToolResult(readings=await self._find_readings(query.split()))
        if texts := arguments.get("compare"):
            return ToolResult(cosines=await self._compare_texts(query, texts))
        if texts := arguments.get("rate"):
            return ToolResult(ratings=await self._rate_texts(query, texts))
        limit = arguments.get("limit", self._limit)
        if not isinstance(limit, int) or not 1 <= limit <= MAX_PASSAGES:
            raise ToolError(f"limit must be a number from 1 to {MAX_PASSAGES}")
        years, rest = find_years(query), remove_years(query)
        searches = self._search_index(rest, limit, years) if years and rest else []
        searches += self._search_index(query, limit)
        kept_inside = self._outside is not None and bool(arguments.get("inside"))
        if self._outside and not kept_inside:
            searches.append(self._outside.search(query[:MOST_OUTSIDE_CHARS], min(limit, MAX_OUTSIDE)))
        if not searches:
            raise ToolError(KEPT_INSIDE if kept_inside else "none of the sources that this run may search is there")
        result = _merge_results(await settle_all(searches, len(searches)), self._withholds)
        return result.model_copy(update={"note": "; ".join(filter(None, (KEPT_INSIDE, result.note)))}) if kept_inside else result

    async def _find_readings(self, words: Sequence[str]) -> tuple[Reading, ...]:
        """Return the words that no filter's passages hold; none if a search outside may know them."""
        searcher = self._searcher
        if self._outside or not isinstance(searcher, Speller) or not self._where:
            return ()
        answers = await asyncio.gather(*(searcher.respell(words, where) for where in self._where))
        unknown = [word for word in words if all(word in answer for answer in answers)]
        return tuple(
            Reading(written=word, read=next((answer[word] for answer in answers if answer[word]), "")) for word in unknown
        )

    async def _compare_texts(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return await self._searcher.compare(query, texts) if isinstance(self._searcher, Comparer) else ()

    async def _rate_texts(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        return await self._searcher.rate(question, texts) if isinstance(self._searcher, Rater) else ()

    def _search_index(self, query: str, limit: int, years: YearSpan | None = None) -> list[Coroutine[Any, Any, OutsideResult]]:
        """Return a search for each filter, narrowed to the years if there are any."""
        if self._searcher is None:
            return []
        filters = [_narrow_to_years(where, years) for where in self._where] if years else self._where
        return [_search_passages(self._searcher, query, limit, where) for where in filters]


class ScholarTool(SearchTool):
    """Passages of scientific papers for a query, best first. Absent where neither corpus nor service of papers is configured."""

    name = "scholar"
    indexed = outside = "scientific papers"


async def _search_passages(searcher: Searcher, query: str, limit: int, where: SearchFilter) -> OutsideResult:
    return OutsideResult(tuple(await searcher.search(query, limit, where)), "")


def _narrow_to_years(where: SearchFilter, years: YearSpan) -> SearchFilter:
    """Return the filter limited to these years as well."""
    first, last = years
    days = (date(first, 1, 1) if first else date.min, date(last, 12, 31) if last else date.max)
    return where.model_copy(
        update={
            "published_from": max(days[0], where.published_from or date.min),
            "published_to": min(days[1], where.published_to or date.max),
        }
    )


def _merge_results(found: Sequence[OutsideResult | BaseException], withholds: bool) -> ToolResult:
    """Interleave the lists, each passage once. A failed search is named in the note; if all failed, raise its error.

    An outage is always raised, because waiting helps: otherwise the incomplete result would be stored for the whole run.
    """
    errors = [part for part in found if isinstance(part, BaseException)]
    for error in errors:
        if not isinstance(error, ToolError) or isinstance(error, ToolUnavailable) or len(errors) == len(found):
            raise error
    parts = [part for part in found if not isinstance(part, BaseException)]
    turns = zip_longest(*(part.passages for part in parts))
    passages = {p.key: p for turn in turns for p in turn if isinstance(p, Passage)}
    result = screen_passages(tuple(passages.values()), withholds)
    notes = [*(part.note for part in parts), *map(str, errors), result.note]
    return result.model_copy(update={"note": "; ".join(filter(None, notes))})
