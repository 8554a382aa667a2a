"""The removal of running heads, running feet and page numbers."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from retrieval.corpora.pdf.lines import Line

_EDGE_LINES = 6
_HEAD_LINES = 3
"""Of more lines than this, what repeats may be an address or a clause."""
_SAME_HEIGHT = 4.0
_SAME_PLACE = 0.5
_APART = 1.6
"""A head stands apart from the text by more than this many sizes; one that does not may be the head of a table."""
_YEARS = range(1_000, 2_101)
"""A number that may be a year is no page number: successive pages may be about successive years."""
_MAX_CHARS = 150
_TELLING = 20
"""A line of more characters that repeats is a running head at any height: pages differ in size."""
_NUMBER = re.compile(
    r"\d+"
    r"|\b(?=[ivxlc])c{0,3}(?:x[cl]|l?x{0,3})(?:i[xv]|v?i{0,3})(?<=[ivxlc])\b"
    r"|\b(?=[IVXLC])C{0,3}(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})(?<=[IVXLC])\b"
    r"|\b[A-Z](?=[-–.]\d)"
)
"""Numbers, Roman ones, and the letter of a section."""
_LABEL = re.compile(r"^#[-–.]#(?!\S)|(?<!\S)#[-–.]#$")
"""The number of a page within its section, such as A-3 or 2.14."""
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


class _EdgeLine(NamedTuple):
    page: int
    line: Line
    words: str
    numbers: tuple[int, ...]


class ClearedPage(NamedTuple):
    """A page without its running heads and feet. `lone` are those that stand on no other page, and long ones on their first."""

    lines: list[Line]
    lone: list[str]


def drop_running_heads(pages: Sequence[list[Line]], pictured: Sequence[bool]) -> list[ClearedPage]:
    """Return the pages (lines from the top down) without what stands at their edges as on other pages.

    A page that would lose all its lines keeps them, unless it is `pictured`: the scan of a page has its text in the picture.
    """
    running: set[int] = set()
    lone: set[int] = set()
    once: dict[int, list[str]] = defaultdict(list)
    for inward in (1, -1):
        edge_running, edge_lone = _find_running([lines[::inward] for lines in pages])
        running, lone = running | edge_running, lone | edge_lone
        for number, text in _list_long_heads(pages, edge_running):
            once[number].append(text)
    cleared = []
    for number, (lines, scan) in enumerate(zip(pages, pictured, strict=True)):
        kept = [line for line in lines if id(line) not in running | lone]
        alone = [*(line.text for line in lines if id(line) in lone), *once[number]]
        cleared.append(ClearedPage(kept, alone) if kept or scan else ClearedPage(lines, []))
    return cleared


def _list_long_heads(pages: Sequence[list[Line]], running: set[int]) -> Iterator[tuple[int, str]]:
    """Yield the heads of many lines, each with the first page that has it."""
    said: set[str] = set()
    for number, lines in enumerate(pages):
        gone = [line for line in lines if id(line) in running]
        fresh = [line for line in gone if _describe(number, line).words not in said]
        if fresh and len(gone) > _HEAD_LINES:
            said |= {_describe(number, line).words for line in fresh}
            yield number, "\n".join(line.text for line in fresh)


def _find_running(pages: Sequence[list[Line]]) -> tuple[set[int], set[int]]:
    """Return the ids of the running lines at one edge of the pages, and those of lone ones; each page begins at that edge."""
    edges = [_describe(number, line) for number, lines in enumerate(pages) for line in lines[:_EDGE_LINES]]
    alike: dict[str, list[_EdgeLine]] = defaultdict(list)
    for edge in edges:
        if len(edge.words) <= _MAX_CHARS:
            alike[edge.words].append(edge)
    repeated = [edge for group in alike.values() for edge in group if any(_repeats(edge, other) for other in group)]
    counting = [edge for edge in repeated if any(_counts(edge, other) for other in alike[edge.words])]
    offsets = {number - edge.page for edge in repeated for number in edge.numbers}
    labelled = any(_LABEL.search(edge.words) for edge in counting)
    placed = [edge for edge in edges if any(abs(edge.line.base - other.line.base) < _SAME_HEIGHT for other in repeated)]
    numbered = [edge for edge in placed if _is_numbered(edge, offsets) or (labelled and _LABEL.search(edge.words))]
    running = {id(edge.line) for edge in (*repeated, *numbered)}
    like = {id(edge.line) for edge in placed if any(_stands_like(edge.line, other.line) for other in repeated)}
    certain = {id(edge.line) for edge in (*counting, *numbered) if _is_page_number(edge)}
    outer = {id(line) for lines in pages for line in _take_outer(lines, running | like, certain)}
    return outer & running, outer - running


def _is_page_number(edge: _EdgeLine) -> bool:
    """Say whether a line is a number alone, or says which page of how many it is."""
    of_all = len(edge.numbers) == 2 and edge.numbers[0] <= edge.numbers[1] and not _LABEL.search(edge.words)
    return edge.words == "#" or of_all


def _stands_like(line: Line, head: Line) -> bool:
    return abs(line.base - head.base) < _SAME_PLACE and abs(line.size - head.size) < _SAME_PLACE


def _take_outer(lines: list[Line], running: set[int], certain: set[int]) -> list[Line]:
    """Return the running lines from the edge inward, up to the first that is none. The last is `certain`, or stands apart."""
    outer: list[Line] = []
    for line in lines:
        if id(line) not in running:
            break
        outer.append(line)
    while outer and len(outer) < len(lines) and not _stands_apart(outer[-1], lines[len(outer)]):
        if id(outer[-1]) in certain:
            break
        outer.pop()
    return outer


def _stands_apart(head: Line, text: Line) -> bool:
    return abs(head.base - text.base) > _APART * max(head.size, text.size) or head.size < 0.9 * text.size


def _describe(page: int, line: Line) -> _EdgeLine:
    text = line.text
    numbers = tuple(_value_of(number) for number in _NUMBER.findall(text))
    return _EdgeLine(page, line, " ".join(_NUMBER.sub("#", text).split()), numbers)


def _value_of(number: str) -> int:
    if number.isdigit():
        return int(number[:9])
    if number.lower() not in _ROMAN and len(number) == 1:
        return ord(number) - ord("A") + 1
    values = [_ROMAN[letter] for letter in number.lower()]
    return sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))


def _repeats(edge: _EdgeLine, other: _EdgeLine) -> bool:
    """Say whether two lines of different pages are the same but for a page number that advances with the pages."""
    steps = other.page - edge.page
    near = abs(edge.line.base - other.line.base) < _SAME_HEIGHT or len(edge.words) > _TELLING
    if not steps or not near or len(edge.numbers) != len(other.numbers):
        return False
    pairs = list(zip(edge.numbers, other.numbers, strict=True))
    advancing = [new - old == steps and (old not in _YEARS or edge.words == "#") for old, new in pairs]
    same = [old == new for old, new in pairs]
    if edge.words == "#":
        return advancing[0]
    return all(is_same or advances for is_same, advances in zip(same, advancing, strict=True))


def _counts(edge: _EdgeLine, other: _EdgeLine) -> bool:
    return edge.numbers != other.numbers and _repeats(edge, other)


def _is_numbered(edge: _EdgeLine, offsets: set[int]) -> bool:
    """Say whether a line begins or ends with the page's number."""
    outside = {edge.numbers[0], edge.numbers[-1]} if edge.numbers else set()
    bare = edge.words.strip("–—-|·[]() ")
    at_an_end = bare.startswith("#") or bare.endswith("#")
    return at_an_end and any(number - edge.page in offsets for number in outside)
