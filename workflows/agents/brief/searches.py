"""The searches of one agent, each through the record, so that it is a stored turn; and what can be asked of their results."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from app.domain.budget import StopReason, Usage
from app.domain.chat import ToolCall, ToolResult
from app.domain.evidence import Passage
from app.domain.reading import Reading
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.tool_use import use_tool

SEARCH_TOOLS = ("search", "scholar")
MOST_COMPARED = 1_000
MOST_READ = 8
"""The words that one call looks up."""


class Searches:
    """The searches of one agent. Each method raises `BudgetSpent` when no further call is allowed."""

    def __init__(self, agent: str, kit: Kit) -> None:
        self._agent = agent
        self._kit = kit
        self._tools = [name for name in SEARCH_TOOLS if name in kit.tools]
        self.calls = 0
        self.usage = Usage()
        self.errors: list[str] = []

    async def find_passages(self, query: str, limit: int) -> list[Passage]:
        """Find passages with every search tool, best first, each once."""
        lists = [(await self._call(name, {"query": query, "limit": limit})).passages for name in self._tools]
        turns = zip_longest(*lists)  # the best of one tool comes before the second of another
        return list({passage.key: passage for turn in turns for passage in turn if passage is not None}.values())

    async def compare(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine of the query with each text (at most `MOST_COMPARED`), or nothing where no tool can compare."""
        if not texts or "search" not in self._tools:
            return ()
        return (await self._call("search", {"query": query, "compare": list(texts)})).cosines

    async def rate(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return how well each text answers the question, 0 to 1, or nothing where no tool can tell."""
        if not texts or "search" not in self._tools:
            return ()
        return (await self._call("search", {"query": question, "rate": list(texts)})).ratings

    async def read_words(self, words: Sequence[str]) -> list[Reading]:
        """Return those of these words that nothing searched here holds, and how each is read instead."""
        if not words or "search" not in self._tools:
            return []
        asked = {"query": " ".join(words[:MOST_READ]), "respell": True}
        return [reading for reading in (await self._call("search", asked)).readings if reading.read]

    async def find_missing(self, words: Sequence[str]) -> list[str]:
        """Return those of these words (at most `MOST_READ`) that nothing searched here holds."""
        if not words or "search" not in self._tools:
            return []
        asked = {"query": " ".join(words[:MOST_READ]), "respell": True}
        return [reading.written for reading in (await self._call("search", asked)).readings]

    async def _call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        if self.calls >= self._kit.limits.max_tool_calls:
            raise BudgetSpent(StopReason.MAX_TOOL_CALLS)
        result = await use_tool(self._kit, self._agent, ToolCall(name=name, arguments=arguments))
        self.calls += 1
        self.usage += result.usage
        if result.error and result.error not in self.errors:
            self.errors.append(result.error)
        return result
