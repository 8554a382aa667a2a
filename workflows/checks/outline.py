"""Headings of a report: missing titles and wrong hierarchy (MindDR Table 1, outline generation)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

from retrieval.language.numbers import read_chinese_numeral
from workflows.checks.markdown import tokens_of

ALIKE = 0.85
"""From this likeness on a heading is taken for the planned one, reworded."""
LARGEST_PLAIN_NUMBER = 60
"""A larger number before a heading, without a stop after it, is a year or an amount."""
_ARABIC = re.compile(r"(?:第\s*)?(\d{1,3}(?:\.\d{1,3})*)(?P<stop>[.．、:：)）]|\s*[章节部分条]{1,2}[、:：\s]?)?(?=\s|\D|$)")
_CHINESE = re.compile(
    r"(?P<open>[（(])?(?:第)?([一二三四五六七八九十]{1,3})(?(open)[)）]|(?:[、．.:：]|[章节部分篇]{1,2}[、:：\s]?))"
)
_MARKUP = re.compile(r"[*_`#]+")


class Heading(NamedTuple):
    """A heading as written, its markup included; `level` counts from 1."""

    level: int
    title: str


class OutlineFault(StrEnum):
    """`empty`: no title. `skipped`: more than one level below the heading before it, or a beginning below the top. `numbering`:
    a number that does not follow its neighbour's or its parent's. `repeated`: the title of an earlier one beside it.
    """

    EMPTY = "empty"
    SKIPPED = "skipped"
    NUMBERING = "numbering"
    REPEATED = "repeated"

    @property
    def of_hierarchy(self) -> bool:
        """Whether it is an error of the hierarchy, not of a title."""
        return self in (OutlineFault.SKIPPED, OutlineFault.NUMBERING)


class FoundFault(NamedTuple):
    """A fault of the heading at this place, counted from 0."""

    place: int
    fault: OutlineFault


class _Number(NamedTuple):
    """How a heading is numbered: `2.1` as (2, 1); `style` keeps 一、 and （一） apart from 1."""

    style: str
    parts: tuple[int, ...]


@dataclass
class _Open:
    """A heading under which others may stand."""

    level: int
    number: _Number | None
    last: dict[str, tuple[int, ...]] = field(default_factory=dict)
    titles: set[str] = field(default_factory=set)


def headings_of(markdown: str) -> list[Heading]:
    """The headings of a Markdown text, in order; those in code are none."""
    tokens = tokens_of(markdown)
    return [
        Heading(int(token.tag[1]), tokens[place + 1].content.strip())
        for place, token in enumerate(tokens)
        if token.type == "heading_open"
    ]


def outline_faults(headings: Sequence[Heading]) -> list[FoundFault]:
    """The faults of an outline, in order."""
    found: list[FoundFault] = []
    top = min((heading.level for heading in headings), default=1)
    opened = [_Open(top - 1, None)]
    for place, heading in enumerate(headings):
        while opened[-1].level >= heading.level:
            opened.pop()
        above = headings[place - 1].level if place else top - 1
        parent, number, title = opened[-1], *_numbered(heading.title)
        faults = {
            OutlineFault.EMPTY: not title,
            OutlineFault.SKIPPED: heading.level > above + 1,
            OutlineFault.NUMBERING: number is not None and not _follows(number, parent),
            OutlineFault.REPEATED: bool(title) and title in parent.titles,
        }
        found += [FoundFault(place, fault) for fault, there in faults.items() if there]
        parent.titles.add(title)
        if number is not None:
            parent.last[number.style] = number.parts
        opened.append(_Open(heading.level, number))
    return found


def sound_levels(levels: Sequence[int], top: int) -> list[int]:
    """The levels with no step down of more than one, beginning at `top`; what stands under what stays as it is."""
    opened: list[int] = []
    found: list[int] = []
    for level in levels:
        while opened and opened[-1] >= level:
            opened.pop()
        opened.append(level)
        found.append(top + len(opened) - 1)
    return found


def missed_titles(planned: Iterable[str], headings: Sequence[Heading]) -> list[str]:
    """Titles of a plan or outline under which the report has no heading, whatever its number; small rewordings count as there."""
    written = [_numbered(heading.title)[1] for heading in headings]
    return [title for title in planned if not any(_same(_numbered(title)[1], other) for other in written)]


def _same(one: str, other: str) -> bool:
    return bool(one) and (one == other or SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE)


def _follows(number: _Number, parent: _Open) -> bool:
    """Whether a number is the next one beside its neighbours and stands under its parent's."""
    *under, own = number.parts
    if under and parent.number and parent.number.style == number.style and tuple(under) != parent.number.parts:
        return False
    before = parent.last.get(number.style)
    return own in (0, 1) if before is None else (tuple(under), own) == (before[:-1], before[-1] + 1)


def _numbered(title: str) -> tuple[_Number | None, str]:
    """A heading's number, if it has one, and its words in small letters without markup and punctuation."""
    plain = _MARKUP.sub("", title).strip()
    number, length = _number(plain)
    return number, "".join(c for c in plain[length:].casefold() if c.isalnum())


def _number(plain: str) -> tuple[_Number | None, int]:
    if found := _CHINESE.match(plain):
        return _Number("（）" if found["open"] else "一", (read_chinese_numeral(found.group(2)),)), found.end()
    found = _ARABIC.match(plain)
    if found is None:
        return None, 0
    parts = tuple(int(part) for part in found.group(1).split("."))
    if not found["stop"] and (len(parts) == 1 and (parts[0] > LARGEST_PLAIN_NUMBER or not plain[found.end() :].startswith(" "))):
        return None, 0
    return _Number("1", parts), found.end()
