"""A filled table as Markdown, and as CSV with one row a cell."""

import csv
import io
from collections.abc import Sequence

from app.domain.missing import Missing
from training.evaluation.paper_tables.curves import FilledCurve
from training.evaluation.paper_tables.description import PaperTable
from training.evaluation.paper_tables.filling import FilledTable
from training.evaluation.paper_tables.layout import EMPTY, ShownCell, ShownRow, TableLayout, lay_out_table
from training.evaluation.paper_tables.page import ABOUT_PAPER, CURVE_HEAD, row_of_curve, row_of_difference

CELL_HEAD = [
    "table",
    "row",
    "label",
    "ran",
    "column",
    "value",
    "low",
    "high",
    "items",
    "comparable",
    "notes",
    "folder",
    "paper_ran",
    "paper_prints",
]


def write_markdown(filled: FilledTable) -> str:
    """Write a table as Markdown, with its notes and paired differences."""
    table, layout = filled.table, lay_out_table(filled)
    notes = [f"{number}. {note}" for number, note in enumerate(layout.notes, 1)]
    differences = [row_of_difference(difference) for difference in filled.differences]
    parts = [
        _write_head(table),
        ABOUT_PAPER.format(source=table.source) if any(layout.has_published) else "",
        _write_cells(table, layout),
        "\n".join(notes),
        "Paired differences:\n\n" + _write_table(["rows", "metric", "difference", "95% interval", "items"], differences)
        if differences
        else "",
        "\n".join(f"- {run} fills nothing: {why}" for run, why in filled.unused.items()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def write_curve_markdown(table: PaperTable, curves: Sequence[FilledCurve]) -> str:
    """Write a figure's curves as Markdown: each curve's ends and extremes."""
    rows = [row_of_curve(curve) for curve in curves]
    return f"{_write_head(table)}\n\n{_write_table(CURVE_HEAD, rows) if rows else 'No training run is given.'}\n"


def write_csv(filled: FilledTable) -> str:
    """Write every cell as a row of CSV; numbers have all their digits."""
    layout, rows = lay_out_table(filled), []
    for row, shown in zip(filled.rows, layout.rows, strict=True):
        for place, column in enumerate(filled.table.columns):
            cell, texts = row.cells[column.id], shown.cells[place]
            value = "" if isinstance(cell.value, Missing) else cell.value
            bounds = ["", ""] if isinstance(cell.interval, Missing) else [cell.interval.low, cell.interval.high]
            notes = "; ".join(layout.notes[number - 1] for number in texts.notes)
            folder = str(cell.run.folder) if cell.run else ""
            printed = ["; ".join(shown.published), "; ".join(texts.published)]
            told = [value, *bounds, cell.items or "", cell.comparable, notes, folder, *printed]
            rows.append([filled.name, row.name, row.label, shown.models, column.name, *told])
    return _write_rows(CELL_HEAD, rows)


def write_curve_csv(curves: Sequence[FilledCurve]) -> str:
    """Write every point of the curves as a row of CSV."""
    filled = [(curve, curve.points) for curve in curves if not isinstance(curve.points, Missing)]
    rows = [
        [curve.panel, curve.curve.name, curve.label, curve.logged, step, value]
        for curve, points in filled
        for step, value in points
    ]
    return _write_rows(["plot", "curve", "run", "logged", "step", "value"], rows)


def _write_head(table: PaperTable) -> str:
    return f"# {table.source}: {table.title}\n\n{table.about}"


def _write_cells(table: PaperTable, layout: TableLayout) -> str:
    columns = list(zip(table.columns, layout.has_published, strict=True))
    head = [name for column, has in columns for name in (column.name, *([f"{column.name}, paper"] if has else []))]
    rows = [_list_texts(row, layout) for row in layout.rows]
    return _write_table(["row", "label", "ran here", "ran in the paper", *head], rows)


def _list_texts(row: ShownRow, layout: TableLayout) -> list[str]:
    cells = zip(row.cells, layout.has_published, strict=True)
    texts = [text for cell, has in cells for text in (_word_cell(cell), *(["; ".join(cell.published)] if has else []))]
    return [row.name, f"`{row.label}`", row.models + _word_numbers(row.notes), "; ".join(row.published), *texts]


def _word_cell(cell: ShownCell) -> str:
    if not cell.value:
        return EMPTY + _word_numbers(cell.notes)
    known = "; ".join(part for part in (cell.bounds, f"n {cell.items}") if part)
    return f"{cell.value} ({known}){_word_numbers(cell.notes)}"


def _word_numbers(numbers: Sequence[int]) -> str:
    return f" [{', '.join(map(str, numbers))}]" if numbers else ""


def _write_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_escape_bars, line)) + " |" for line in lines)


def _escape_bars(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def _write_rows(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerows([head, *rows])
    return written.getvalue()
