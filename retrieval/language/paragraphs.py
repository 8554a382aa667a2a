"""Paragraphs and lines of a text, with exact character offsets."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from app.domain.script import is_ideograph

_BLANK_LINE = re.compile(r"\n[ \t\r\f\v　]*\n\s*")
LIST_ITEM = re.compile(
    r"\s*(?:[-*+•▪◦‣●○■□·–—]\s|#{1,6}\s|>|\||\d{1,3}(?:\.\d{1,3})+\.?\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]\s)"
)
_LABEL = re.compile(r"[^\W\d_][\w-]*: ")
_COLUMNS = re.compile(r"\t|[^\s.!?] {2,}\S| \| ")
_PROSE_END = re.compile(r"[.!?…:][\"'”’»)\]]*$")
_HEADING_CHARS = 60
_COLUMN_CHARS = 36
"""The least width of a page at which lines are taken for cut by it. Addresses, verses and lists are narrower."""


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
    if _is_wrapped([line for piece in text[slice(*paragraph)].split("\n") if (line := piece.strip())]):
        yield paragraph
        return
    while (end := text.find("\n", line_start, paragraph.end)) >= 0:
        if _ends_line(text[line_start:end].rstrip(), text[end + 1 : end + 41]):
            yield trim_span(text, start, end)
            start = end + 1
        line_start = end + 1
    yield trim_span(text, start, paragraph.end)


def _is_wrapped(lines: list[str]) -> bool:
    """Say whether the lines of a paragraph are prose that a narrow page has cut.

    Prose ends with a sentence, and goes on with a small letter somewhere. None of its lines had room for the word that begins the
    next one, unless a sentence ends there: lines that somebody ended by intent are not so even.
    """
    width = max(map(len, lines))
    if len(lines) < 3 or width < _COLUMN_CHARS or not _PROSE_END.search(lines[-1]):
        return False
    if not any(line[0].islower() for line in lines[1:]) or any(map(_stands_alone, lines)):
        return False
    cuts = ((line, following) for line, following in pairwise(lines) if not _PROSE_END.search(line))
    return all(len(line) + 1 + len(following.split(maxsplit=1)[0]) >= width for line, following in cuts)


def _stands_alone(line: str) -> bool:
    """Say whether a line is an item, a row, a value behind its name, or Chinese."""
    marked = line[0] in "#|" or LIST_ITEM.match(line) or _LABEL.match(line) or _COLUMNS.search(line)
    return bool(marked) or is_ideograph(line[-1])


def _ends_line(line: str, following: str) -> bool:
    if LIST_ITEM.match(following) or line.lstrip().startswith(("#", "|")):
        return True
    if is_ideograph(line[-1:]) and len(line.strip()) < _HEADING_CHARS:
        return True
    first = following.lstrip()[:1]
    return len(line.strip()) < _HEADING_CHARS and (first.isupper() or is_ideograph(first)) and line[-1:] not in ",;:-"
