"""A filled table as one HTML page without scripts. Labels, names and notes are text, never markup."""

import re
from collections.abc import Sequence
from html import escape
from itertools import groupby

from app.domain.missing import Missing
from training.evaluation.intervals import Interval
from training.evaluation.paper_tables.curves import FilledCurve
from training.evaluation.paper_tables.description import PaperTable
from training.evaluation.paper_tables.drawing import draw_table, draw_training_curves
from training.evaluation.paper_tables.filling import FilledTable, RowDifference
from training.evaluation.paper_tables.labels import LabelledRun
from training.evaluation.paper_tables.layout import (
    EMPTY,
    ShownCell,
    ShownRow,
    TableLayout,
    describe_runner,
    format_value,
    lay_out_table,
)
from training.pages.markup import render_document, render_table

ABOUT_PAPER = (
    "Columns headed “paper” carry the figures that {source} prints. They are of other models, other judges and other "
    "days, and of other data where a note says so: they are no baseline of the values beside them."
)
CODE = re.compile(r"`([^`]+)`")
DEMONSTRATION = '<p class="warning"><b>A demonstration</b> is among the runs: its figures measure nothing.</p>'
RUN_HEAD = ["label", "folder", "benchmark", "ran", "judge", "items", "data (SHA-256)", "code", "begun"]
CURVE_HEAD = ["plot", "curve", "run", "logged as, or why it is empty", "points", "first", "last", "least", "most"]


def render_paper_table(filled: FilledTable) -> str:
    """Render the page of a table that runs fill."""
    layout, table = lay_out_table(filled), filled.table
    demonstration = any(run.manifest.demonstration for run in filled.runs)
    parts = [
        *_render_head(table),
        DEMONSTRATION if demonstration else "",
        f"<p>{escape(ABOUT_PAPER.format(source=table.source))}</p>" if any(layout.has_published) else "",
        f'<div class="wide">{_render_cells(table, layout)}</div>',
        _render_notes(layout.notes),
        *(f"<figure>{svg}</figure>" for svg in draw_table(filled)),
        _render_differences(filled.differences),
        _render_column_notes(table),
        _render_runs(filled.runs),
        _render_unused(filled),
    ]
    return render_document(f"{table.source}: {table.title}", parts)


def render_curve_page(table: PaperTable, curves: Sequence[FilledCurve]) -> str:
    """Render the page of a figure that training runs fill."""
    plots = [f"<figure>{svg}</figure>" for svg in draw_training_curves(curves)]
    rows = [row_of_curve(curve) for curve in curves]
    none = "" if rows else "<p>No training run is given (`--training LABEL=FOLDER`).</p>"
    return render_document(
        f"{table.source}: {table.title}", [*_render_head(table), none, *plots, _render_words(CURVE_HEAD, rows) if rows else ""]
    )


def row_of_curve(curve: FilledCurve) -> list[str]:
    """Return a curve in a row of text: its first, last, least and largest value, or why it is empty."""
    named = [curve.panel, curve.curve.name, curve.label]
    if isinstance(curve.points, Missing):
        return [*named, f"empty: {curve.points.reason}", *[""] * 5]
    values = [value for _, value in curve.points]
    return [*named, curve.logged, str(len(values)), *(f"{v:.4g}" for v in (values[0], values[-1], min(values), max(values)))]


def _render_head(table: PaperTable) -> list[str]:
    return [f"<h1>{escape(table.source)}: {escape(table.title)}</h1>", f"<p>{_render_text(table.about)}</p>"]


def _render_cells(table: PaperTable, layout: TableLayout) -> str:
    columns, named = list(zip(table.columns, layout.has_published, strict=True)), any(row.published for row in layout.rows)
    top = "".join(f'<th colspan="{1 + has}">{escape(column.name)}</th>' for column, has in columns)
    below = "".join("<th>here</th>" + ('<th class="paper">paper</th>' if has else "") for _, has in columns)
    width = 2 + named + sum(1 + has for _, has in columns)
    body = []
    for group, rows in groupby(layout.rows, key=lambda row: row.group):
        body += [f'<tr><th colspan="{width}">{escape(group)}</th></tr>'] if group else []
        body += [_render_row(row, layout.has_published, named) for row in rows]
    models = '<th rowspan="2" class="paper">ran in the paper</th>' if named else ""
    return (
        f'<table><thead><tr><th rowspan="2">row <small>and label</small></th><th rowspan="2">ran here</th>{models}{top}</tr>'
        f"<tr>{below}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


def _render_row(row: ShownRow, has_published: Sequence[bool], named: bool) -> str:
    cells = "".join(_render_cell(cell, has) for cell, has in zip(row.cells, has_published, strict=True))
    label = "" if row.label == row.name else f"<br><code>{escape(row.label)}</code>"
    models = f"<td>{escape(row.models)}{_render_numbers(row.notes)}</td>" + (_render_paper(row.published) if named else "")
    return f"<tr><td>{escape(row.name)}{label}</td>{models}{cells}</tr>"


def _render_cell(cell: ShownCell, has_published: bool) -> str:
    bounds = f"<br><small>{escape(cell.bounds)}</small>" if cell.bounds else ""
    items = f"<br><small>n {cell.items}</small>" if cell.value else ""
    value = f"<b>{escape(cell.value)}</b>" if cell.value else EMPTY
    here = f"<td>{value}{_render_numbers(cell.notes)}{bounds}{items}</td>"
    return here + (_render_paper(cell.published) if has_published else "")


def _render_paper(texts: Sequence[str]) -> str:
    return f'<td class="paper">{"<br>".join(map(escape, texts))}</td>'


def _render_words(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Render a table whose words are not broken."""
    return f'<div class="words">{render_table(head, rows)}</div>'


def _render_text(text: str) -> str:
    """Render a sentence with commands and names between backticks."""
    return CODE.sub(r"<code>\1</code>", escape(text))


def _render_numbers(numbers: Sequence[int]) -> str:
    return f"<sup>{', '.join(map(str, numbers))}</sup>" if numbers else ""


def _render_notes(notes: Sequence[str]) -> str:
    return f'<ol class="notes">{"".join(f"<li>{_render_text(note)}</li>" for note in notes)}</ol>' if notes else ""


def _render_differences(differences: Sequence[RowDifference]) -> str:
    if not differences:
        return ""
    rows = [row_of_difference(difference) for difference in differences]
    told = "<p>Over the items that both runs have; * marks intervals of enough items that leave zero out.</p>"
    return "<h2>Paired differences</h2>" + told + _render_words(["rows", "metric", "difference", "95% interval", "items"], rows)


def row_of_difference(difference: RowDifference) -> list[str]:
    """Return a paired difference in a row of text, in its column's unit."""
    column, found = difference.column, difference.found
    value = found.difference.reason if isinstance(found.difference, Missing) else _show(difference, found.difference)
    bounds = _show_bounds(difference, found.interval)
    return [difference.name, column.name, value + (" *" if found.clear else ""), bounds, str(found.items)]


def _show(difference: RowDifference, value: float) -> str:
    return format_value(difference.column, difference.scale * value)


def _show_bounds(difference: RowDifference, interval: Interval | Missing) -> str:
    if isinstance(interval, Missing):
        return interval.reason
    low, high = sorted((difference.scale * interval.low, difference.scale * interval.high))
    return f"{format_value(difference.column, low)} to {format_value(difference.column, high)}"


def _render_column_notes(table: PaperTable) -> str:
    rows = [[column.name, " or ".join(column.benchmarks), column.note] for column in table.columns]
    return "<h2>Columns</h2>" + _render_words(["metric", "filled by a run of", ""], rows)


def _render_runs(runs: Sequence[LabelledRun]) -> str:
    return "<h2>Runs</h2>" + _render_words(RUN_HEAD, list(map(_row_of_run, runs))) if runs else ""


def _row_of_run(run: LabelledRun) -> list[str]:
    manifest, judge = run.manifest, run.manifest.judge.model
    return [
        run.label,
        str(run.folder),
        f"{manifest.benchmark} {manifest.variant}".strip(),
        f"{describe_runner(manifest)} {manifest.system.reports[:8]}".strip(),
        judge.name if judge else "none",
        f"{len(run.record.scored)} of {len(manifest.items)}",
        ", ".join(f"{name} {digest[:8]}" for name, digest in manifest.data.items()),
        manifest.code[:8],
        manifest.started_at.isoformat(timespec="minutes"),
    ]


def _render_unused(filled: FilledTable) -> str:
    rows = [[run, why] for run, why in filled.unused.items()]
    return "<h2>Runs that fill nothing</h2>" + _render_words(["run", "why"], rows) if rows else ""
