"""Repairing tables without a model and without loss (MindDR Table 6: table errors after post-processing).

Sound tables stay exactly as they are. A table that cannot be repaired is not changed.
"""

import re
from typing import NamedTuple

from workflows.checks.tables import Cells, Table, TableFault, tables_of

_LETTERS = re.compile(r"[^\s|｜\\:–—－-]")
_DASHES = re.compile(r"[-–—－]+")
_BAR_IN_CELL = re.compile(r"(?<!\\)\|")


class TableCount(NamedTuple):
    """The number of tables, and the number of those with a fault."""

    tables: int
    faulty: int


class Repaired(NamedTuple):
    """The text with its tables repaired, and the table counts before and after."""

    text: str
    before: TableCount
    after: TableCount


def repaired_tables(text: str) -> Repaired:
    """Repair every table of the text that can be repaired. Words, numbers and citations stay, in the same order."""
    tables = tables_of(text)
    before = after = _count(tables)
    mended = text
    # A table that gets its rule also takes the row after a blank line, so another round may be needed: at most one a line.
    for _ in range(text.count("\n")):
        if not after.faulty:
            break
        lines = _put_right_in(mended.split("\n"), tables)
        if lines == mended.split("\n"):
            break
        mended = "\n".join(lines)
        tables = tables_of(mended)
        after = _count(tables)
    return Repaired(mended, before, after)


def _put_right_in(lines: list[str], tables: list[Table]) -> list[str]:
    for table in reversed([table for table in tables if table.faults]):
        new = _put_right(table)
        if new and _says(new) == _says(lines[table.start : table.end]):
            gap = [""] if TableFault.STUCK in table.faults else []
            lines[table.start : table.end] = new + gap
    return lines


def _count(tables: list[Table]) -> TableCount:
    return TableCount(len(tables), sum(bool(table.faults) for table in tables))


def _put_right(table: Table) -> list[str]:
    """Return the repaired lines of a table; empty if it cannot be repaired.

    Every row gets as many cells as the widest row: cells beyond the head would not be shown, so the head gets empty ones. Without
    a rule the first row is the head; a rule without a head gets an empty head.
    """
    if not table.rows:
        return []
    rows = [_trimmed(row, len(table.head)) for row in table.rows]
    width = max(len(row) for row in [table.head, *rows])
    head, *body = [_line(_padded(row, width), table.indent) for row in [table.head, *rows]]
    rule = [_rule_cell(cell) for cell in table.rule[:width]]
    return [head, _line((*rule, *["---"] * (width - len(rule))), table.indent), *body]


def _trimmed(row: Cells, width: int) -> Cells:
    """Remove the empty cells of a row beyond the head."""
    while len(row) > max(1, width) and not row[-1]:
        row = row[:-1]
    return row


def _padded(row: Cells, width: int) -> Cells:
    return (*row, *[""] * (width - len(row)))


def _rule_cell(cell: str) -> str:
    return _DASHES.sub("---", cell) if _DASHES.search(cell) else "---"


def _line(cells: Cells, indent: str) -> str:
    return indent + "| " + " | ".join(_BAR_IN_CELL.sub(r"\\|", cell) for cell in cells) + " |"


def _says(lines: list[str]) -> str:
    """Return the whole text of a table, in order, without bars, rules and white space."""
    return "".join(_LETTERS.findall("".join(lines)))
