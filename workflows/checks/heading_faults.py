"""Finding faults of a report's headings: missing titles and wrong hierarchy (MindDR Table 1, outline generation)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

from retrieval.language.numbers import read_chinese_numeral
from workflows.checks.markdown import parse_markdown

LEAST_LIKENESS = 0.85
"""The least likeness at which a heading counts as the planned one, reworded."""
LARGEST_PLAIN_NUMBER = 60
"""A larger number at the start of a heading, without a full stop after it, is a year or an amount."""
_ARABIC = re.compile(r"(?:第\s*)?(\d{1,3}(?:\.\d{1,3})*)(?P<stop>[.．、:：)）]|\s*[章节部分条]{1,2}[、:：\s]?)?(?=\s|\D|$)")
_CHINESE = re.compile(
    r"(?P<open>[（(])?(?:第)?([一二三四五六七八九十]{1,3})(?(open)[)）]|(?:[、．.:：]|[章节部分篇]{1,2}[、:：\s]?))"
)
_MARKUP = re.compile(r"[*_`#]+")


class ReportHeading(NamedTuple):
    """A heading as written, its markup included; `level` counts from 1."""

    level: int
    title: str


class OutlineFault(StrEnum):
    """`empty`: no title. `skipped`: more than one level below the heading before it, or a start below the top. `numbering`: a
    number that does not follow its neighbour's or its parent's. `repeated`: the same title as an earlier heading beside it.
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


class _HeadingNumber(NamedTuple):
    """The number of a heading: `2.1` is (2, 1); `style` distinguishes 一、 and （一） from 1."""

    style: str
    parts: tuple[int, ...]


@dataclass
class _OpenHeading:
    """A heading under which others may stand."""

    level: int
    number: _HeadingNumber | None
    last: dict[str, tuple[int, ...]] = field(default_factory=dict)
    titles: set[str] = field(default_factory=set)


def list_headings(markdown: str) -> list[ReportHeading]:
    """Return the headings of a Markdown text, in order, without those in code."""
    tokens = parse_markdown(markdown)
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
        parent, number, title = opened[-1], *_split_number(heading.title)
        faults = {
            OutlineFault.EMPTY: not title,
            OutlineFault.SKIPPED: heading.level > above + 1,
            OutlineFault.NUMBERING: number is not None and not _is_next_number(number, parent),
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


def _is_next_number(number: _HeadingNumber, parent: _OpenHeading) -> bool:
    """Say whether a number follows its neighbours and its parent's number."""
    *under, own = number.parts
    if under and parent.number and parent.number.style == number.style and tuple(under) != parent.number.parts:
        return False
    before = parent.last.get(number.style)
    return own in (0, 1) if before is None else (tuple(under), own) == (before[:-1], before[-1] + 1)


def _split_number(title: str) -> tuple[_HeadingNumber | None, str]:
    """Return a heading's number, if any, and its words in lower case without markup and punctuation."""
    plain = _MARKUP.sub("", title).strip()
    number, length = _read_number(plain)
    return number, "".join(c for c in plain[length:].casefold() if c.isalnum())


def _read_number(plain: str) -> tuple[_HeadingNumber | None, int]:
    if found := _CHINESE.match(plain):
        return _HeadingNumber("（）" if found["open"] else "一", (read_chinese_numeral(found.group(2)),)), found.end()
    found = _ARABIC.match(plain)
    if found is None:
        return None, 0
    parts = tuple(int(part) for part in found.group(1).split("."))
    if not found["stop"] and (len(parts) == 1 and (parts[0] > LARGEST_PLAIN_NUMBER or not plain[found.end() :].startswith(" "))):
        return None, 0
    return _HeadingNumber("1", parts), found.end()
