"""Checking the numbers in table cells against the sources that the cells cite (MindDR section 6.3: table information).

A cell is checked against its own citations, else those of its row, else those of its column's head. First columns name their rows
and are not checked; cells without any citation are counted separately.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from app.domain.citations import MARKER
from retrieval.language.numbers import Number, read_numbers
from workflows.checks.reading import read_sentence
from workflows.checks.tables import MarkdownTable, find_tables

SCALES = {
    1e3: ("thousand", "千", "'000", "000s"),
    1e4: ("万",),
    1e6: ("million", "百万", "mn", "mio"),
    1e8: ("亿",),
    1e9: ("billion", "十亿", "bn"),
}
TOLERANCE = 1e-9


class WrongCell(NamedTuple):
    """A cell with numbers that none of its sources has. `table`, `row` and `column` count from 0."""

    table: int
    row: int
    column: int
    text: str
    numbers: tuple[Number, ...]


class CheckedTables(NamedTuple):
    """The number of cells that were checked against a source, of those without a source, and the cells that differ."""

    checked: int
    unsourced: int
    wrong: tuple[WrongCell, ...]


def check_numbers(body: str, sources: Mapping[str, str]) -> CheckedTables:
    """Check the tables of a body against the cited texts, given by citation key. A key without a text is ignored."""
    checked = unsourced = 0
    wrong: list[WrongCell] = []
    for place, table in enumerate(find_tables(body)):
        for row, column, text, keys in _list_cells(table):
            said = read_numbers(MARKER.sub(" ", text))
            texts = [sources[key] for key in keys if key in sources]
            if not said:
                continue
            if not texts:
                unsourced += 1
                continue
            checked += 1
            if missing := _find_missing(said, texts, _scales_of(table, column)):
                wrong.append(WrongCell(place, row, column, text, missing))
    return CheckedTables(checked, unsourced, tuple(wrong))


def _list_cells(table: MarkdownTable) -> Iterator[tuple[int, int, str, Sequence[str]]]:
    """Yield each cell except those of the first column, with its place and the citation keys for it."""
    heads = [_keys_of(cell) for cell in table.head]
    for number, row in enumerate(table.rows):
        whole = [key for cell in row for key in _keys_of(cell)]
        for column, cell in enumerate(row):
            if column:
                yield number, column, cell, _keys_of(cell) or whole or (heads[column] if column < len(heads) else [])


def _keys_of(cell: str) -> list[str]:
    return [key.strip() for key in MARKER.findall(cell)]


def _scales_of(table: MarkdownTable, column: int) -> list[float]:
    """Return the possible factors of a number in this column: 1, and the scale in the column's head ("in millions")."""
    head = table.head[column].lower() if column < len(table.head) else ""
    return [1.0, *(scale for scale, names in SCALES.items() if any(name in head for name in names))]


def _find_missing(said: Sequence[Number], texts: Sequence[str], scales: Sequence[float]) -> tuple[Number, ...]:
    known = {number for text in texts for number in read_sentence(text).numbers}
    return tuple(number for number in said if not any(_is_same_number(number, other, scales) for other in known))


def _is_same_number(said: Number, other: Number, scales: Sequence[float]) -> bool:
    """Say whether a source's number equals the cell's number, allowing the column's scale and rounding to the cell's places.

    A number without a unit matches any unit of the source, because its column may state it; otherwise units must be equal.
    """
    if said.unit and said.unit != other.unit:
        return False
    return any(_rounds_to(other.value / scale, said.value) for scale in scales)


def _rounds_to(value: float, said: float) -> bool:
    places = len(f"{said:.10f}".rstrip("0").partition(".")[2])
    return abs(round(value, places) - said) <= TOLERANCE * max(1.0, abs(said))
