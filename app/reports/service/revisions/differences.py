"""Compare two versions: which sections changed, and in them which words."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from enum import StrEnum

from app.domain.citations import MARKER
from app.domain.report import Report, Section
from app.domain.script import IDEOGRAPHS
from app.domain.value import Value
from app.reports.rendering.numbering import number_citations

# A word with the blanks behind it; an ideograph is a word; so is a citation.
_ONE = rf"\u3040-\u30ff{IDEOGRAPHS}"
_WORDS = re.compile(rf"\[\[[^\[\]\n]{{1,80}}\]\]\s*|[{_ONE}]\s*|[^\s\[{_ONE}]+\s*|\[|\s+")
ALIKE = 0.4


class Change(StrEnum):
    """The fate of a section, or of a stretch of words."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Stretch(Value):
    """Words that stayed, came or went. Citation numbers are the newer version's; in words that went, the older one's."""

    change: Change
    text: str


class SectionDiff(Value):
    """A section in both versions (by their positions, from 0), or in one of them."""

    change: Change
    old: int | None
    new: int | None
    heading: str
    old_heading: str = ""
    words: tuple[Stretch, ...] = ()


class ReportDiff(Value):
    """All sections, in the order of the newer version."""

    sections: tuple[SectionDiff, ...]


def compare_reports(old: Report, new: Report) -> ReportDiff:
    """Return the changes from the old version to the new one."""
    numbers = (_numbers_of(old), _numbers_of(new))
    pairs = _pair_sections(old.sections, new.sections)
    return ReportDiff(sections=tuple(_compare_sections(old.sections, new.sections, i, j, numbers) for i, j in pairs))


def _numbers_of(report: Report) -> dict[str, int]:
    return {citation.quote.key: citation.n for citation in number_citations(report).citations}


def _pair_sections(old: Sequence[Section], new: Sequence[Section]) -> list[tuple[int | None, int | None]]:
    """Pair sections that are the same, then in each gap between those the ones that resemble each other."""
    matcher = SequenceMatcher(None, [_identity_of(s) for s in old], [_identity_of(s) for s in new], autojunk=False)
    pairs: list[tuple[int | None, int | None]] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pairs += zip(range(i1, i2), range(j1, j2), strict=True)
        else:
            pairs += _pair_similar(old, new, list(range(i1, i2)), list(range(j1, j2)))
    return pairs


def _pair_similar(
    old: Sequence[Section], new: Sequence[Section], left: list[int], right: list[int]
) -> list[tuple[int | None, int | None]]:
    """Pair as many old as new ones in their order; else each new one with the first old one left that it resembles."""
    if len(left) == len(right):
        return list(zip(left, right, strict=True))
    pairs: list[tuple[int | None, int | None]] = []
    for j in right:
        match = next((i for i in left if _resemble(old[i], new[j])), None)
        if match is None:
            pairs.append((None, j))
            continue
        pairs += [(i, None) for i in left if i < match]
        left = [i for i in left if i > match]
        pairs.append((match, j))
    return pairs + [(i, None) for i in left]


def _resemble(one: Section, other: Section) -> bool:
    return (
        one.heading == other.heading or SequenceMatcher(None, _words_of(one.body), _words_of(other.body), False).ratio() >= ALIKE
    )


def _compare_sections(
    old: Sequence[Section], new: Sequence[Section], i: int | None, j: int | None, numbers: tuple[dict[str, int], dict[str, int]]
) -> SectionDiff:
    before = _words_of(old[i].body) if i is not None else []
    after = _words_of(new[j].body) if j is not None else []
    headings = [old[i].heading] if i is not None else []
    headings += [new[j].heading] if j is not None else []
    if i is None or j is None:
        change = Change.ADDED if i is None else Change.REMOVED
    else:
        change = Change.SAME if before == after and headings[0] == headings[1] else Change.CHANGED
    words = () if change is Change.SAME else tuple(_compare_words(before, after, *numbers))
    return SectionDiff(
        change=change, old=i, new=j, heading=headings[-1], old_heading=headings[0] if len(set(headings)) > 1 else "", words=words
    )


def _compare_words(before: list[str], after: list[str], old: dict[str, int], new: dict[str, int]) -> list[Stretch]:
    stretches: list[Stretch] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            stretches.append(Stretch(change=Change.SAME, text=_render_words(after[j1:j2], new)))
            continue
        if i2 > i1:
            stretches.append(Stretch(change=Change.REMOVED, text=_render_words(before[i1:i2], old)))
        if j2 > j1:
            stretches.append(Stretch(change=Change.ADDED, text=_render_words(after[j1:j2], new)))
    return stretches


def _render_words(words: Sequence[str], numbers: dict[str, int]) -> str:
    return MARKER.sub(lambda m: f"[{numbers[m.group(1)]}]" if m.group(1) in numbers else "", "".join(words))


def _identity_of(section: Section) -> tuple[str, int, str]:
    return section.heading, section.level, section.body


def _words_of(body: str) -> list[str]:
    return _WORDS.findall(body)
