"""`browse`: reading the full text of a search result, one part at a time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.domain.chat import ToolResult
from app.domain.errors import ToolError
from app.domain.evidence import Passage
from retrieval.ports import Document, PageReader, cut_passage
from workflows.tools.screening import screen_part

PART_CHARS = 9_000
PASSAGE_CHARS = 1_500
BREAKS = ("\n\n", "\n", "。", ". ", "；", "; ", " ")
URL_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "url": {"type": "string"},
        "part": {"type": "integer", "minimum": 1},
        "at": {"type": "integer", "minimum": 0, "description": "without a part: the offset of a character; its part is read"},
    },
    "required": ["url"],
    "additionalProperties": False,
}


class BrowseTool:
    """Reads a document in parts of about 9,000 characters, each as passages with exact offsets."""

    name = "browse"
    description = "Read the full text of a page that a search returned, one part at a time."
    parameters = URL_SCHEMA

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Read one part (counted from 1), by its number or by the offset `at` of a character in it.

        Raises:
            ToolError: nothing is stored under this address, or the document has no such part.
        """
        document = await self._reader.read(str(arguments.get("url", "")))
        parts = list(cut_pieces(document.text, 0, len(document.text), PART_CHARS)) or [(0, 0)]
        part = _read_part_number(arguments, parts)
        if not 1 <= part <= len(parts):
            raise ToolError(f"this document has {len(parts)} parts; there is no part {part}")
        result = screen_part(document, tuple(cut_passages(document, *parts[part - 1])))
        note = "; ".join(said for said in (f"part {part} of {len(parts)}", document.note, result.note) if said)
        return result.model_copy(update={"note": note})


def _read_part_number(arguments: Mapping[str, Any], parts: Sequence[tuple[int, int]]) -> int:
    part, at = arguments.get("part"), arguments.get("at")
    if part is None and isinstance(at, int):
        return next((number for number, (start, end) in enumerate(parts, 1) if start <= at < end), 1)
    return part if isinstance(part, int) else 1


def cut_passages(document: Document, start: int, end: int) -> Iterator[Passage]:
    """Cut a stretch of a document into passages of at most `PASSAGE_CHARS` characters."""
    for left, right in cut_pieces(document.text, start, end, PASSAGE_CHARS):
        if document.text[left:right].strip():
            yield cut_passage(document, left, right)


def cut_pieces(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut `[start, end)` of `text` into pieces of at most `size` characters, at the best break in the second half of each."""
    while end - start > size:
        stop = _find_break(text, start + size // 2, start + size)
        yield start, stop
        start = stop
    if start < end:
        yield start, end


def _find_break(text: str, low: int, high: int) -> int:
    for mark in BREAKS:
        found = text.rfind(mark, low, high)
        if found >= low:
            return found + len(mark)
    return high
