"""An agent's searches: each through the record, so that it is a stored turn, and none made twice."""

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

from app.domain.budget import StopReason, Usage
from app.domain.chat import ToolCall, ToolResult
from workflows.agents.extractive.hits import Hit, Hits
from workflows.agents.extractive.period import Period
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.sentences import Sentence, sentences_of
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.tool_use import use_tool

OTHER_NAMES = 2
SEARCH_TOOLS = ("search", "scholar")
WITHIN = 0.5
"""With more than this share of a search's passages in the years asked for, there is enough of them."""


class Gathering:
    """Searches on behalf of one agent and keeps what they brought.

    `look` raises `BudgetSpent` when no further call is allowed, by the run or by the agent's own limits.
    """

    def __init__(self, agent: str, kit: Kit, period: Period) -> None:
        self._agent = agent
        self._kit = kit
        self._asked: set[str] = set()
        self._period = period
        self.hits = Hits(period)
        self.calls = 0
        self.usage = Usage()
        self.errors: list[str] = []

    async def look(self, query: str, limit: int, tools: Iterable[str] = SEARCH_TOOLS) -> list[Hit]:
        """Search for passages, best first; nothing when this agent has asked the same before or the query is blank."""
        words = " ".join(query.split())
        if not words or words.lower() in self._asked:
            return []
        self._asked.add(words.lower())
        lists = [await self._use(name, words, limit) for name in tools if name in self._kit.tools]
        turns = zip_longest(*lists)  # each list is best first, and neither's best comes behind all of the other
        return list({hit.key: hit for turn in turns for hit in turn if hit is not None}.values())

    async def look_otherwise(self, question: Question, limit: int) -> None:
        """Search for what the question's subject is called otherwise."""
        for name in question.called:
            for other in name.others[:OTHER_NAMES]:
                await self.look(re.sub(re.escape(name.written), other, question.subject, flags=re.IGNORECASE), limit)

    async def respell(self, words: Sequence[str]) -> list[dict[str, str]]:
        """For each search tool, how it reads those of these words that nothing it searches holds; empty for one near to none."""
        asked = {"query": " ".join(words), "respell": True}
        results = [await self._call(name, asked) for name in SEARCH_TOOLS if name in self._kit.tools]
        return [{reading.written: reading.read for reading in result.readings} for result in results]

    async def skim(self, url: str) -> list[Sentence]:
        """The sentences of the first part of a document that a search returned, whatever they speak of."""
        if "browse" not in self._kit.tools:
            return []
        result = await self._call("browse", {"url": url})
        return [sentence for passage in result.passages for sentence in sentences_of(passage)]

    async def _use(self, name: str, query: str, limit: int) -> list[Hit]:
        """A search; once more among the years asked for, where most of what it brought lies outside them."""
        found = (await self._call(name, {"query": query, "limit": limit})).passages
        hits = self.hits.add(found)
        if not self._period or len(hits) > WITHIN * len(found):
            return hits
        years = {"first_year": self._period.first, "last_year": self._period.last}
        dated = await self._call(
            name, {"query": query, "limit": limit} | {k: year for k, year in years.items() if year is not None}
        )
        return [*hits, *self.hits.add(dated.passages)]

    async def _call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        if self.calls >= self._kit.limits.max_tool_calls:
            raise BudgetSpent(StopReason.MAX_TOOL_CALLS)
        call = ToolCall(name=name, arguments=arguments)
        result = await use_tool(self._kit, self._agent, call)
        self.calls += 1
        self.usage += result.usage
        if result.error and result.error not in self.errors:
            self.errors.append(result.error)
        return result
