"""A filled table as texts, the same for page, Markdown and CSV: shown values, printed ones, and numbered notes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.domain.missing import Missing
from training.evaluation.harness.manifest import RunManifest
from training.evaluation.paper_tables.cells import Cell
from training.evaluation.paper_tables.description import PaperColumn, PaperRow
from training.evaluation.paper_tables.filling import FilledRow, FilledTable
from training.evaluation.paper_tables.labels import LabelledRun

EMPTY = "–"
SEVERAL = "the row's runs are of several models or systems"


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell's texts: value and bounds, empty where there are none; numbers of its notes.

    `published` are the paper's values, one for each of the row's models there; empty where the paper has none.
    """

    value: str
    bounds: str
    items: int
    notes: tuple[int, ...]
    published: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row's texts. `models` names what ran here, and `published` what ran in the paper."""

    name: str
    label: str
    group: str
    models: str
    notes: tuple[int, ...]
    published: tuple[str, ...]
    cells: tuple[ShownCell, ...]


@dataclass(slots=True)
class _Notes:
    """Notes in the order of their first use, each once."""

    texts: list[str] = field(default_factory=list)

    def number(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1


@dataclass(frozen=True, slots=True)
class TableLayout:
    """All rows of a table, its notes by number from 1, and which columns have printed values."""

    rows: Sequence[ShownRow]
    notes: Sequence[str]
    has_published: Sequence[bool]


def lay_out_table(filled: FilledTable) -> TableLayout:
    """Turn a filled table into texts."""
    notes = _Notes()
    rows = [_show_row(filled, row, notes) for row in filled.rows]
    has_published = [any(row.cells[place].published for row in rows) for place, _ in enumerate(filled.table.columns)]
    return TableLayout(rows, notes.texts, has_published)


def format_value(column: PaperColumn, value: float) -> str:
    """Format a value of a column with its digits."""
    return f"{value:,.{column.digits}f}"


def describe_runner(manifest: RunManifest) -> str:
    """Describe what ran: the system and its model, nothing for finished reports, or the judge alone."""
    system = manifest.system
    if system.reports:
        return "finished reports"
    model = system.model or (None if system.effort else manifest.judge.model)
    return ", ".join(part for part in (system.name if system.effort else "", model.name if model else "") if part) or "no model"


def _show_row(filled: FilledTable, row: FilledRow, notes: _Notes) -> ShownRow:
    ran = list(dict.fromkeys(describe_runner(run.manifest) for run in _runs_of(row)))
    cells = [_show_cell(column, place, row, notes) for place, column in enumerate(filled.table.columns)]
    several = (notes.number(SEVERAL),) if len(ran) > 1 else ()
    return ShownRow(row.name, row.label, row.row.group, "; ".join(ran), several, _name_published(row.row), tuple(cells))


def _runs_of(row: FilledRow) -> list[LabelledRun]:
    return [cell.run for cell in row.cells.values() if cell.run is not None]


def _show_cell(column: PaperColumn, place: int, row: FilledRow, notes: _Notes) -> ShownCell:
    cell, published = row.cells[column.id], _list_published(column, place, row.row)
    if isinstance(cell.value, Missing):
        return ShownCell("", "", 0, (notes.number(f"empty: {cell.value.reason}"),), published)
    numbers = tuple(notes.number(mark) for mark in (*cell.marks, *_explain_bounds(cell)))
    return ShownCell(format_value(column, cell.value), _show_bounds(column, cell), cell.items, numbers, published)


def _show_bounds(column: PaperColumn, cell: Cell) -> str:
    if isinstance(cell.interval, Missing):
        return ""
    return f"{format_value(column, cell.interval.low)} to {format_value(column, cell.interval.high)}"


def _explain_bounds(cell: Cell) -> list[str]:
    return [f"no interval: {cell.interval.reason}"] if isinstance(cell.interval, Missing) else []


def _list_published(column: PaperColumn, place: int, row: PaperRow) -> tuple[str, ...]:
    values = [published.values[place] for published in row.published]
    known = any(not math.isnan(value) for value in values)
    return tuple(EMPTY if math.isnan(value) else format_value(column, value) for value in values) if known else ()


def _name_published(row: PaperRow) -> tuple[str, ...]:
    return tuple(published.of for published in row.published) if any(published.of for published in row.published) else ()
