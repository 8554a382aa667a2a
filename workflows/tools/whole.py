"""`read_all`: collections that are short enough are read whole, and nothing is searched in them."""

from collections.abc import Mapping
from typing import Any

from app.domain.chat import ToolResult
from retrieval.ports import SearchFilter, WholeReader
from workflows.tools.browse import cut_passages
from workflows.tools.screening import screen_part

NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


class WholeTool:
    """Reads every document of the run's collections; no passages where they are longer than `most_chars` together.

    Passages that try to instruct their reader are withheld, as in a search.
    """

    name = "read_all"
    description = "Read all documents of the collections that this run searches."
    parameters = NO_ARGUMENTS

    def __init__(self, reader: WholeReader, where: SearchFilter, most_chars: int) -> None:
        self._reader = reader
        self._where = where
        self._most_chars = most_chars

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Read once. Raises `ToolError` where the index cannot be reached, or has no such collection."""
        documents = await self._reader.read_whole(self._where, self._most_chars)
        if documents is None:
            return ToolResult(note=f"longer than {self._most_chars} characters")
        results = [screen_part(document, tuple(cut_passages(document, 0, len(document.text)))) for document in documents]
        return ToolResult(
            passages=tuple(passage for result in results for passage in result.passages),
            suspicious=tuple(suspicion for result in results for suspicion in result.suspicious),
            note="; ".join(result.note for result in results if result.note),
        )
