"""Repairing tables without a model and without loss (MindDR Table 6: table errors after post-processing).

Sound tables stay exactly as they are. A table that cannot be repaired is not changed.
"""

import re
from typing import NamedTuple

from workflows.checks.tables import MarkdownTable, TableCells, TableFault, find_tables

_LETTERS = re.compile(r"[^\s|｜\\:–—－-]")
_DASHES = re.compile(r"[-–—－]+")
_BAR_IN_CELL = re.compile(r"(?<!\\)\|")


class TableCount(NamedTuple):
    """The number of tables, and the number of those with a fault."""

    tables: int
    faulty: int


class RepairedTables(NamedTuple):
    """The text with its tables repaired, and the table counts before and after."""

    text: str
    before: TableCount
    after: TableCount


def repair_tables(text: str) -> RepairedTables:
    """Repair every table of the text that can be repaired. Words, numbers and citations stay, in the same order."""
    tables = find_tables(text)
    before = after = _count_tables(tables)
    mended = text
    # A table that gets its rule also takes the row after a blank line, so another round may be needed: at most one a line.
    for _ in range(text.count("\n")):
        if not after.faulty:
            break
        lines = _repair_all(mended.split("\n"), tables)
        if lines == mended.split("\n"):
            break
        mended = "\n".join(lines)
        tables = find_tables(mended)
        after = _count_tables(tables)
    return RepairedTables(mended, before, after)


def _repair_all(lines: list[str], tables: list[MarkdownTable]) -> list[str]:
    for table in reversed([table for table in tables if table.faults]):
        new = _repair_table(table)
        if new and _text_of(new) == _text_of(lines[table.start : table.end]):
            gap = [""] if TableFault.STUCK in table.faults else []
            lines[table.start : table.end] = new + gap
    return lines


def _count_tables(tables: list[MarkdownTable]) -> TableCount:
    return TableCount(len(tables), sum(bool(table.faults) for table in tables))


def _repair_table(table: MarkdownTable) -> list[str]:
    """Return the repaired lines of a table; empty if it cannot be repaired.

    Every row gets as many cells as the widest row: cells beyond the head would not be shown, so the head gets empty ones. Without
    a rule the first row is the head; a rule without a head gets an empty head.
    """
    if not table.rows:
        return []
    rows = [_trim_row(row, len(table.head)) for row in table.rows]
    width = max(len(row) for row in [table.head, *rows])
    head, *body = [_write_row(_pad_row(row, width), table.indent) for row in [table.head, *rows]]
    rule = [_repair_rule_cell(cell) for cell in _pad_row(table.rule[:width], width)]
    return [head, _write_row(tuple(rule), table.indent), *body]


def _trim_row(row: TableCells, width: int) -> TableCells:
    """Remove the empty cells of a row beyond the head."""
    while len(row) > max(1, width) and not row[-1]:
        row = row[:-1]
    return row


def _pad_row(row: TableCells, width: int) -> TableCells:
    return row + ("",) * (width - len(row))


def _repair_rule_cell(cell: str) -> str:
    return _DASHES.sub("---", cell) if _DASHES.search(cell) else "---"


def _write_row(cells: TableCells, indent: str) -> str:
    return indent + "| " + " | ".join(_BAR_IN_CELL.sub(r"\\|", cell) for cell in cells) + " |"


def _text_of(lines: list[str]) -> str:
    """Return the whole text of a table, in order, without bars, rules and white space."""
    return "".join(_LETTERS.findall("".join(lines)))
