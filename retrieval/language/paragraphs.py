"""Paragraphs and lines of a text, with exact character offsets."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from app.domain.script import is_ideograph

_BLANK_LINE = re.compile(r"\n[ \t\r\f\v　]*\n\s*")
_LIST_ITEM = re.compile(
    r"\s*(?:[-*+•·–—]\s|#{1,6}\s|>|\||\d{1,3}(?:\.\d{1,3})+\.?\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]\s)"
)
_HEADING_CHARS = 60


class Span(NamedTuple):
    """A stretch `[start, end)` of a text, in characters. The text it names neither begins nor ends in white space."""

    start: int
    end: int


def trim_span(text: str, start: int, end: int) -> Span:
    """Leave out the white space at both ends of a stretch."""
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    return Span(left, max(left, start + len(piece.rstrip())))


def split_paragraphs(text: str) -> list[Span]:
    """Find the stretches of `text` between blank lines."""
    edges = [0, *(edge for gap in _BLANK_LINE.finditer(text) for edge in gap.span()), len(text)]
    spans = (trim_span(text, start, end) for start, end in zip(edges[::2], edges[1::2], strict=True))
    return [span for span in spans if span.start < span.end]


def split_lines(text: str, paragraph: Span) -> Iterator[Span]:
    """Cut a paragraph where a line break means more than the page's width: headings, list items, tables, Chinese lines."""
    start = line_start = paragraph.start
    while (end := text.find("\n", line_start, paragraph.end)) >= 0:
        if _ends_line(text[line_start:end].rstrip(), text[end + 1 : end + 41]):
            yield trim_span(text, start, end)
            start = end + 1
        line_start = end + 1
    yield trim_span(text, start, paragraph.end)


def _ends_line(line: str, following: str) -> bool:
    if _LIST_ITEM.match(following) or line.lstrip().startswith(("#", "|")):
        return True
    if is_ideograph(line[-1:]) and len(line.strip()) < _HEADING_CHARS:
        return True
    first = following.lstrip()[:1]
    return len(line.strip()) < _HEADING_CHARS and (first.isupper() or is_ideograph(first)) and line[-1:] not in ",;:-"
