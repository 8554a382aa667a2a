"""The order in which a page's lines are read: columns one after the other, rows of a table across."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from retrieval.corpora.pdf.lines import Line, build_lines
from retrieval.corpora.pdf.pieces import Piece

_GUTTER = 0.6
"""The least width of a gutter, in letters' sizes; in successive lines, no space between words is as wide."""
_MIN_LINES = 3
_MAX_COLUMNS = 4
_GUTTERS_TRIED = 6
_TALL_GAP = 1.75
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class _Band(NamedTuple):
    """Successive lines that leave a gutter free."""

    first: int
    end: int
    gutter: float
    kind: str


def order_lines(lines: list[Line]) -> list[list[Line]]:
    """Return the lines of a page (from the top down) as columns in the order of reading."""
    band = _find_band(lines)
    if band is None:
        return [lines] if lines else []
    middle = lines[band.first : band.end]
    inside = _order_band(middle, band.gutter) if band.kind == "columns" else [_mark_rows(middle)]
    return [*order_lines(lines[: band.first]), *inside, *order_lines(lines[band.end :])]


def _order_band(lines: list[Line], gutter: float) -> list[list[Line]]:
    """Order the parts of a band: columns, and the tables and headings between them."""
    ordered: list[list[Line]] = []
    parts = [(part, _kind_of(part, gutter)) for part in _split_at_gaps(lines)]
    kinds = _settle_small_parts(parts)
    for kind, group in groupby(zip(parts, kinds, strict=True), key=lambda pair: pair[1]):
        members = [line for (part, _), _ in group for line in part]
        if kind == "columns":
            for side in _split(members, gutter):
                ordered += order_lines(build_lines(side))
        else:
            ordered.append(_mark_rows(members) if kind == "rows" else members)
    return ordered


def _settle_small_parts(parts: list[tuple[list[Line], str]]) -> list[str]:
    """Return each part's kind. One or two lines are columns like their neighbours, if they are no heading across both."""
    size = median(line.size for part, _ in parts for line in part)
    kinds = []
    for part, kind in parts:
        heading = len(part) <= 2 and min(line.size for line in part) > 1.1 * size
        kinds.append("text" if heading else "columns" if len(part) < _MIN_LINES else kind)
    return kinds


def _split_at_gaps(lines: list[Line]) -> Iterator[list[Line]]:
    usual = median([above.base - below.base for above, below in pairwise(lines)] or [0.0])
    part: list[Line] = []
    for line in lines:
        if part and part[-1].base - line.base > _TALL_GAP * max(usual, line.size):
            yield part
            part = []
        part.append(line)
    yield part


def _find_band(lines: list[Line]) -> _Band | None:
    """Return the longest band of columns, else the longest table."""
    bands = [band for gutter in _gutters_of(lines) for band in _bands_at(lines, gutter, _MAX_COLUMNS)]
    for kind in ("columns", "rows"):
        fitting = [band for band in bands if band.kind == kind]
        if fitting:
            return max(fitting, key=lambda band: band.end - band.first)
    return None


def _gutters_of(lines: list[Line]) -> list[float]:
    """Return the places left of which several lines or words after a gap begin."""
    starts: Counter[int] = Counter()
    for line in lines:
        for piece in _after_gaps(line):
            starts[round(piece.left / 2)] += 1
    left = min((line.left for line in lines), default=0.0)
    size = median([line.size for line in lines] or [1.0])
    merged = {place: starts[place - 1] + starts[place] + starts[place + 1] for place in starts}
    places = [place for place, number in sorted(merged.items(), key=lambda item: -item[1]) if number >= _MIN_LINES]
    return [place * 2 - 0.3 * size - 2 for place in places if place * 2 > left + size][:_GUTTERS_TRIED]


def _after_gaps(line: Line) -> Iterator[Piece]:
    yield line.pieces[0]
    end = line.pieces[0].right
    for piece in line.pieces[1:]:
        if piece.left - end > _GUTTER * line.size:
            yield piece
        end = max(end, piece.right)


def _bands_at(lines: list[Line], gutter: float, columns: int) -> Iterator[_Band]:
    """Yield the bands along a gutter, of at most so many columns."""
    low, high, first = float("-inf"), float("inf"), 0
    for index, line in enumerate(lines):
        left, right = _sides_of(line, gutter)
        fresh_low, fresh_high = max(low, left), min(high, right)
        if fresh_high - fresh_low < _GUTTER * line.size or left > gutter or right < gutter:
            yield from _make_band(lines, first, index, gutter, columns)
            crosses = right - left < _GUTTER * line.size
            low, high, first = (float("-inf"), float("inf"), index + 1) if crosses else (left, right, index)
        else:
            low, high = fresh_low, fresh_high
    yield from _make_band(lines, first, len(lines), gutter, columns)


def _sides_of(line: Line, gutter: float) -> tuple[float, float]:
    """Return where the text left of the gutter ends and the text right of it begins; a piece across it closes the gap."""
    left = max((p.right for p in line.pieces if (p.left + p.right) / 2 < gutter), default=float("-inf"))
    right = min((p.left for p in line.pieces if (p.left + p.right) / 2 >= gutter), default=float("inf"))
    return left, right


def _make_band(lines: list[Line], first: int, end: int, gutter: float, columns: int) -> Iterator[_Band]:
    band = lines[first:end]
    sides = [_sides_of(line, gutter) for line in band]
    both = sum(left > float("-inf") and right < float("inf") for left, right in sides)
    one = [any(left > float("-inf") for left, _ in sides), any(right < float("inf") for _, right in sides)]
    if len(band) >= _MIN_LINES and all(one):
        kind = _kind_of(band, gutter, columns)
        if kind == "columns" or (kind == "rows" and both >= 2):
            yield _Band(first, end, gutter, kind)


def _kind_of(lines: list[Line], gutter: float, columns: int = _MAX_COLUMNS) -> str:
    left, right = (build_lines(side) for side in _split(lines, gutter))
    prose = (_is_prose(left, columns - 1), _is_prose(right, columns - 1))
    if all(prose):
        return "columns"
    shared = sum(len({_side_of(piece, gutter) for piece in line.pieces}) == 2 for line in lines)
    return "rows" if not any(prose) and shared * 2 >= len(lines) else "text"


def _split(lines: list[Line], gutter: float) -> tuple[list[Piece], list[Piece]]:
    pieces = [piece for line in lines for piece in line.pieces]
    return [p for p in pieces if not _side_of(p, gutter)], [p for p in pieces if _side_of(p, gutter)]


def _side_of(piece: Piece, gutter: float) -> bool:
    return (piece.left + piece.right) / 2 >= gutter


def _is_prose(lines: list[Line], columns: int) -> bool:
    """Say whether lines are running text, in at most so many columns.

    They fill their column, and go on from one to the next. Cells of a table do not.
    """
    if len(lines) < _MIN_LINES:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    texts = [line.text for line in lines]
    letters = median(sum(c.isalpha() for c in text) * (2.5 if _IDEOGRAPH.search(text) else 1) for text in texts)
    gaps = median(line.widest_gap / line.size for line in lines)
    if letters < 10:
        return False
    if gaps < 1.2 and median(line.right - line.left for line in lines) >= 0.6 * width:
        return _go_on(texts)
    gutters = _gutters_of(lines)[:2] if columns > 1 else []
    return any(band.kind == "columns" for gutter in gutters for band in _bands_at(lines, gutter, columns))


def _go_on(texts: list[str]) -> bool:
    """Say whether a good part of the lines begins within a sentence, as far as their script shows it."""
    cased = [text.lstrip("(“\"'‘«")[:1] for text in texts[1:]]
    cased = [letter for letter in cased if letter.lower() != letter.upper()]
    if not cased:
        return bool(_IDEOGRAPH.search("".join(texts)))
    return sum(letter.islower() for letter in cased) >= 0.2 * len(cased)


def _mark_rows(lines: list[Line]) -> list[Line]:
    for line in lines:
        line.row = line.widest_gap > _GUTTER * line.size
    return lines
