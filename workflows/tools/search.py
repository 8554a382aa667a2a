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
        """Search once.

        Raises:
            ToolError: there is no query, or the index cannot answer.
        """
        query = normalised(str(arguments.get("query", "")))[:MAX_QUERY_CHARS]
        if not query:
            raise ToolError("the query is empty; write what you look for")
        return ToolResult(passages=tuple(await self._searcher.search(query, self._limit, self._where)))
