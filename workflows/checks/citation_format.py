"""Citations as readers see them: [n] with an entry n in the list of sources (MindDR Eq. 11, v_ref; Table 4, citation format).

Whether a source supports a statement is another question (`grading.py`, `judging/citation_judge.py`).
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from workflows.checks.markdown import find_code_lines, parse_blocks
from workflows.checks.source_lists import names_a_source_list

FIRST_YEAR = 1000
_NUMBERS = re.compile(r"\[(\d{1,4}(?:\s*[,，、;–-]\s*\d{1,4})*)\]")
_RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")
_WRITERS_OWN = re.compile(
    r"\[\[[0-9a-f]{16}\]\]|\[\s*[qp]\d{1,6}(?:\s*,\s*[qp]\d{1,6})*\s*\]|</?cite\b[^>\n]{0,200}>|【\s*\d+[^】\n]{0,40}】|\[\^[\w-]{1,40}\](?!:)"
    r"|\[(?:citation needed|source|来源|引用|待补充)\]",
    re.IGNORECASE,
)
_CODE = re.compile(r"`[^`\n]*`")
_ENTRY = re.compile(r"^\s*(?:[-*]\s+)?(?:\*\*)?(?:\[(\d{1,4})\](?!\()|(\d{1,4})[.)、])(?:\*\*)?\s*\S")
_AT_THE_START = re.compile(r"\s*(?:[-*+]\s+|\d{1,3}[.)]\s+|>\s*)*\[\d{1,4}\](?!\()")


class CitationFault(StrEnum):
    """The kinds of fault in citations.

    `dangling`: a number without an entry. `unused`: an entry that nothing cites. `order`: entries that leave out or repeat a
    number; those of a list by document need not count up.
    `leftover`: a notation of the writer, such as [q3] or 【1†】. `floating`: a citation without text before it.
    """

    DANGLING = "dangling"
    UNUSED = "unused"
    ORDER = "order"
    LEFTOVER = "leftover"
    FLOATING = "floating"


class FoundCitationFault(NamedTuple):
    """A fault, and the words that show it."""

    fault: CitationFault
    shown: str


class ReportBody(NamedTuple):
    """A report's text before its list of sources, and the numbers of the entries; None where there is no list."""

    body: str
    listed: tuple[int, ...] | None


def split_off_sources(markdown: str) -> ReportBody:
    """Cut a report at its last list of sources."""
    lines = markdown.split("\n")
    heads = [place for place, line in enumerate(lines) if names_a_source_list(line)]
    if not heads:
        return ReportBody(markdown, None)
    listed = _entry_numbers(lines[heads[-1] + 1 :])
    return ReportBody("\n".join(lines[: heads[-1]]), tuple(listed) or None)


def _entry_numbers(lines: list[str]) -> list[int]:
    """Return the numbers of a list's entries: all numbers in brackets, or else the plain ones up to the next heading."""
    entries = [(place, found) for place, line in enumerate(lines) if (found := _ENTRY.match(line))]
    if bracketed := [int(found[1]) for _, found in entries if found[1]]:
        return bracketed
    end = next((place for place, line in enumerate(lines) if line.startswith("#")), len(lines))
    return [int(found[2]) for place, found in entries if place < end]


def find_citation_faults(markdown: str) -> list[FoundCitationFault]:
    """Return the faults of a report's citations. Without a list of sources only notation and place can be checked."""
    body, listed = split_off_sources(markdown)
    code = find_code_lines(parse_blocks(body))
    lines = [_CODE.sub("code", line) for place, line in enumerate(body.split("\n")) if place not in code]
    faults = [
        FoundCitationFault(CitationFault.LEFTOVER, found.group()) for line in lines for found in _WRITERS_OWN.finditer(line)
    ]
    starts = ((line, before) for before, line in zip(["", *lines], lines, strict=False))
    faults += [FoundCitationFault(CitationFault.FLOATING, line[:60]) for line, before in starts if _is_floating(line, before)]
    if listed is None:
        return faults
    cited = {number for line in lines for number in _read_numbers(line, 0 in listed)}
    dangling = sorted(number for number in cited - set(listed) if number < FIRST_YEAR)
    faults += [FoundCitationFault(CitationFault.DANGLING, f"[{number}]") for number in dangling]
    faults += [FoundCitationFault(CitationFault.UNUSED, f"[{number}]") for number in sorted(set(listed) - cited)]
    if sorted(listed) not in (list(range(1, len(listed) + 1)), list(range(len(listed)))):
        faults.append(FoundCitationFault(CitationFault.ORDER, ", ".join(map(str, listed[:20]))))
    return faults


def _is_floating(line: str, before: str) -> bool:
    """Say whether a paragraph or list item begins with a citation. A line that continues a paragraph may begin with one."""
    goes_on = bool(before.strip()) and not re.match(r"\s*(?:[-*+>]|\d{1,3}[.)]\s)", line)
    return not goes_on and _AT_THE_START.match(line) is not None


def _read_numbers(line: str, from_zero: bool) -> Iterator[int]:
    """Yield the numbers cited. [0, 1] is an interval or an array, unless the list of sources counts from 0."""
    for found in _NUMBERS.finditer(line):
        said = _RANGE.sub(lambda r: ",".join(map(str, range(int(r[1]), min(int(r[2]), int(r[1]) + 50) + 1))), found.group(1))
        numbers = [int(number) for number in re.findall(r"\d+", said)]
        yield from numbers if from_zero or 0 not in numbers else ()
