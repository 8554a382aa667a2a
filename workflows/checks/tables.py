"""Finding the tables of a Markdown text and the faults of their form (MindDR section 6.3: valid tables; Table 6: error rate).

A Markdown program reports no errors: it shows a table whose rule does not fit its head as a paragraph of bars, and drops cells
beyond the columns of the head. So tables are found by their lines, as the writer meant them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from markdown_it.rules_block.table import escapedSplit

from workflows.checks.markdown import find_code_lines, parse_blocks

BAR, WIDE_BAR = "|", "｜"
_RULE = re.compile(r"\|?\s*:?[-–—－]+:?\s*(?:\|\s*:?[-–—－]+:?\s*)*\|?")
_SOUND_RULE_CELL = re.compile(r":?-+:?")
_BEGINS_A_BLOCK = re.compile(r"\s{4,}|\s*(?:#{1,6}\s|>|[-*+]\s|\d{1,9}[.)]\s|```|~~~|(?:[-*_]\s*){3,}$)")
_BAR_INSIDE = re.compile(r"(?<!\\)\|")


class TableFault(StrEnum):
    """The kinds of fault in a table.

    `no_rule`: no line divides head and body. `head`: that line is not the second. `rule`: that line does not fit the head, or
    there are several. `columns`: a row has more or fewer cells than the head. `empty`: no row below the head. `gap`: a blank line
    inside. `stuck`: text after the table, without a blank line, becomes a row. `bars`: full-width bars.
    """

    NO_RULE = "no_rule"
    HEAD = "head"
    RULE = "rule"
    COLUMNS = "columns"
    EMPTY = "empty"
    GAP = "gap"
    STUCK = "stuck"
    BARS = "bars"


TableCells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """Lines meant as a table: lines `[start, end)` of the text, its head, rows and rule as written, and its faults.

    `indent` is the white space before its first line.
    """

    start: int
    end: int
    head: TableCells
    rows: tuple[TableCells, ...]
    rule: TableCells
    indent: str
    faults: frozenset[TableFault]


def find_tables(text: str) -> list[MarkdownTable]:
    """Return the tables of a text, in order."""
    if BAR not in text and WIDE_BAR not in text:
        return []
    lines = text.split("\n")
    code = find_code_lines(parse_blocks(text))
    plain = ["" if number in code else _narrow_bars(line) for number, line in enumerate(lines)]
    return [_read_table(lines, plain, start, end) for start, end in _find_blocks(plain)]


def is_rule(line: str) -> bool:
    """Say whether a line is meant to divide a head from its rows."""
    return BAR in line and _RULE.fullmatch(line.strip()) is not None


def split_cells(line: str) -> TableCells:
    """Return a row's cells, stripped, with escaped bars as bars."""
    cells = escapedSplit(line.strip())
    if cells and not cells[0]:
        cells.pop(0)
    if cells and not cells[-1]:
        cells.pop()
    return tuple(cell.strip() for cell in cells)


def _narrow_bars(line: str) -> str:
    return line.replace(WIDE_BAR, BAR) if line.lstrip().startswith(WIDE_BAR) else line


def _is_row(line: str) -> bool:
    return (line.lstrip().startswith(BAR) and bool(line.strip(" \t|"))) or is_rule(line)


def _find_blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of at least two lines that are meant as one table each."""
    at = 0
    while at < len(lines):
        if not _is_row(lines[at]):
            at += 1
            continue
        start = at - 1 if is_rule(lines[at]) and at and _has_bar(lines[at - 1]) else at
        at = _find_end(lines, start, at + 1)
        own = lines[start:at]
        if len(own) > 1 and (any(map(is_rule, own)) or _is_even(own)):
            yield start, at


def _is_even(lines: Sequence[str]) -> bool:
    """Say whether lines without a rule are rows of a table: equally many cells, two or more, and a bar at both ends.

    Without this test `|x| + |y|` over two lines would be a table.
    """
    widths = {len(split_cells(line)) for line in lines}
    return len(widths) == 1 and min(widths) > 1 and all(line.rstrip().endswith(BAR) for line in lines)


def _has_bar(line: str) -> bool:
    return _BAR_INSIDE.search(line) is not None and not _BEGINS_A_BLOCK.match(line)


def _find_end(lines: Sequence[str], start: int, at: int) -> int:
    """Return the line after a table that has been read up to `at`. Blank lines that interrupt the table are part of it."""
    ruled = any(is_rule(line) for line in lines[start:at])
    while at < len(lines):
        if _is_row(lines[at]) or (ruled and _has_bar(lines[at])):
            ruled = ruled or is_rule(lines[at])
            at += 1
            continue
        following = at + 1
        if lines[at].strip() or following >= len(lines) or not _continues(lines, start, following, ruled):
            break
        at = following
    return at


def _continues(lines: Sequence[str], start: int, at: int, ruled: bool) -> bool:
    """Say whether the line after a blank one belongs to the table: its rule, or a row as wide as its head and no new head."""
    if not _is_row(lines[at]):
        return False
    if is_rule(lines[at]):
        return not ruled
    heads_another = at + 1 < len(lines) and is_rule(lines[at + 1])
    return ruled and not heads_another and len(split_cells(lines[at])) == len(split_cells(lines[start]))


def _read_table(lines: Sequence[str], plain: Sequence[str], start: int, end: int) -> MarkdownTable:
    own = [plain[number] for number in range(start, end) if plain[number].strip()]
    rules = [place for place, line in enumerate(own) if is_rule(line)]
    rows = [split_cells(line) for line in own if not is_rule(line)]
    rule = split_cells(own[rules[0]]) if rules else ()
    head = () if rules[:1] == [0] else rows[0]
    body = tuple(rows if not head else rows[1:])
    first = lines[start]
    faults = {
        TableFault.NO_RULE: not rules,
        TableFault.HEAD: bool(rules) and rules[0] != 1,
        TableFault.RULE: bool(rules) and (len(rules) > 1 or not _fits_head(rule, head)),
        TableFault.COLUMNS: any(len(row) != len(head or body[0]) for row in body),
        TableFault.EMPTY: not body,
        TableFault.GAP: len(own) < end - start,
        TableFault.STUCK: end < len(plain) and bool(plain[end].strip()) and not _BEGINS_A_BLOCK.match(plain[end]),
        TableFault.BARS: any(lines[number] != plain[number] for number in range(start, end)),
    }
    found = frozenset(fault for fault, there in faults.items() if there)
    indent = first[: len(first) - len(first.lstrip())]
    return MarkdownTable(start, end, head, body, rule, indent, found)


def _fits_head(rule: TableCells, head: TableCells) -> bool:
    return (not head or len(rule) == len(head)) and all(_SOUND_RULE_CELL.fullmatch(cell) for cell in rule)
