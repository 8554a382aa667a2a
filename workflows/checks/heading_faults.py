"""Finding faults of a report's headings: missing titles and wrong hierarchy (MindDR Table 1, outline generation)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple
from unicodedata import normalize

from workflows.checks.heading_numbers import HeadingNumber, read_heading_numbers
from workflows.checks.markdown import parse_blocks

LEAST_LIKENESS = 0.85
"""The least likeness at which a heading counts as the planned one, reworded."""
_MARKUP = re.compile(r"[*_`#]+")


class ReportHeading(NamedTuple):
    """A heading as written, its markup included; `level` counts from 1."""

    level: int
    title: str


class OutlineFault(StrEnum):
    """The kinds of fault in an outline.

    `empty`: no title. `skipped`: more than one level below the heading before it, or a start below the top. `numbering`: a number
    that does not follow its neighbour's or its parent's. `repeated`: the same title as an earlier heading beside it.
    """

    EMPTY = "empty"
    SKIPPED = "skipped"
    NUMBERING = "numbering"
    REPEATED = "repeated"

    @property
    def of_hierarchy(self) -> bool:
        """Whether it is an error of the hierarchy, not of a title."""
        return self in (OutlineFault.SKIPPED, OutlineFault.NUMBERING)


class FoundOutlineFault(NamedTuple):
    """A fault of the heading at this place, counted from 0."""

    place: int
    fault: OutlineFault


@dataclass
class _OpenHeading:
    """A heading under which others may stand."""

    level: int
    number: HeadingNumber | None
    last: dict[str, tuple[int, ...]] = field(default_factory=dict)
    titles: set[str] = field(default_factory=set)


def list_headings(markdown: str) -> list[ReportHeading]:
    """Return the headings of a Markdown text, in order, without those in code."""
    tokens = parse_blocks(markdown)
    return [
        ReportHeading(int(token.tag[1]), tokens[place + 1].content.strip())
        for place, token in enumerate(tokens)
        if token.type == "heading_open"
    ]


def find_outline_faults(headings: Sequence[ReportHeading]) -> list[FoundOutlineFault]:
    """Return the faults of an outline, in order."""
    found: list[FoundOutlineFault] = []
    top = min((heading.level for heading in headings), default=1)
    opened = [_OpenHeading(top - 1, None)]
    for place, heading in enumerate(headings):
        while opened[-1].level >= heading.level:
            opened.pop()
        above = headings[place - 1].level if place else top - 1
        parent, readings, title = opened[-1], *_split_number(heading.title)
        number, follows = _choose_reading(readings, parent)
        faults = {
            OutlineFault.EMPTY: not title,
            OutlineFault.SKIPPED: heading.level > above + 1,
            OutlineFault.NUMBERING: number is not None and not follows,
            OutlineFault.REPEATED: bool(title) and title in parent.titles,
        }
        found += [FoundOutlineFault(place, fault) for fault, there in faults.items() if there]
        parent.titles.add(title)
        if number is not None:
            parent.last[number.style] = number.parts
        opened.append(_OpenHeading(heading.level, number))
    return found


def close_level_gaps(levels: Sequence[int], top: int) -> list[int]:
    """Return the levels without gaps, beginning at `top`. Each heading keeps its parent."""
    opened: list[int] = []
    found: list[int] = []
    for level in levels:
        while opened and opened[-1] >= level:
            opened.pop()
        opened.append(level)
        found.append(top + len(opened) - 1)
    return found


def find_missed_titles(planned: Iterable[str], headings: Sequence[ReportHeading]) -> list[str]:
    """Return the planned titles without a heading in the report. Numbers are ignored, and small rewordings count as present."""
    written = [_split_number(heading.title)[1] for heading in headings]
    return [title for title in planned if not any(_is_same_title(_split_number(title)[1], other) for other in written)]


def _is_same_title(one: str, other: str) -> bool:
    return bool(one) and (one == other or SequenceMatcher(None, one, other, autojunk=False).ratio() >= LEAST_LIKENESS)


def _choose_reading(readings: Sequence[HeadingNumber], parent: _OpenHeading) -> tuple[HeadingNumber | None, bool]:
    """Return the reading of a number that follows its neighbours, and whether one does. Without a row begun, a letter is none."""
    following = [number for number in readings if _is_next_number(number, parent)]
    following.sort(key=lambda number: number.style not in parent.last)
    begun = [number for number in readings if number.style in parent.last or not number.needs_a_row]
    return next(iter(following or begun), None), bool(following)


def _is_next_number(number: HeadingNumber, parent: _OpenHeading) -> bool:
    """Say whether a number follows its neighbours and its parent's number."""
    *under, own = number.parts
    if under and parent.number and parent.number.style == number.style and tuple(under) != parent.number.parts:
        return False
    before = parent.last.get(number.style)
    return own in (0, 1) if before is None else (tuple(under), own) == (before[:-1], before[-1] + 1)


def _split_number(title: str) -> tuple[list[HeadingNumber], str]:
    """Return the readings of a heading's number, and its words in lower case without markup and punctuation."""
    plain = normalize("NFKC", _MARKUP.sub("", title)).strip()
    readings, length = read_heading_numbers(plain)
    return readings, "".join(c for c in plain[length:].casefold() if c.isalnum())
