"""`search` over the general corpus."""

from collections.abc import Mapping
from typing import Any

from app.domain.chat import ToolResult
from app.domain.errors import ToolError
from retrieval.ports import Searcher, SearchFilter
from workflows.tools.tool_memory import normalised

QUERY_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
    "additionalProperties": False,
}
MAX_QUERY_CHARS = 400
MAX_PASSAGES = 100


class SearchTool:
    """Passages for a query, best first."""

    name = "search"
    description = "Search the general corpus; returns the passages that fit the query best."
    parameters = QUERY_SCHEMA

    def __init__(self, searcher: Searcher, where: SearchFilter, limit: int = 6) -> None:
        self._searcher = searcher
        self._where = where
        self._limit = limit

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Search once. Agents that read without a model may ask for more passages than usual by `limit` (at most 100).

        Raises:
            ToolError: there is no query, or the index cannot answer.
        """
        query = normalised(str(arguments.get("query", "")))[:MAX_QUERY_CHARS]
        if not query:
            raise ToolError("the query is empty; write what you look for")
        limit = arguments.get("limit", self._limit)
        if not isinstance(limit, int) or not 1 <= limit <= MAX_PASSAGES:
            raise ToolError(f"limit must be a number from 1 to {MAX_PASSAGES}")
        return ToolResult(passages=tuple(await self._searcher.search(query, limit, self._where)))
