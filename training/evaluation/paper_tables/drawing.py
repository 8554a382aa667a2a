"""The plots of a filled table, as SVG. Only cells that can be compared with each other are drawn."""

from collections.abc import Callable, Mapping, Sequence

from app.domain.missing import Missing
from training.evaluation.intervals import Interval
from training.evaluation.paper_tables.cells import LOWER_BOUND, Cell
from training.evaluation.paper_tables.curves import FilledCurve
from training.evaluation.paper_tables.description import PaperColumn, PlotKind
from training.evaluation.paper_tables.filling import FilledRow, FilledTable
from training.evaluation.paper_tables.labels import step_of
from training.pages.plots import draw_curves, draw_named_points, draw_panels, draw_series


def draw_table(filled: FilledTable) -> list[str]:
    """Draw what the table's kind of plot shows; nothing where no cell is filled."""
    return _DRAWERS[filled.table.plot](filled)


def draw_training_curves(curves: Sequence[FilledCurve]) -> list[str]:
    """Draw one plot for each panel; a curve is named by its run too where there are several runs."""
    labels = {curve.label for curve in curves}
    drawn = []
    for panel in dict.fromkeys(curve.panel for curve in curves):
        of_panel = [curve for curve in curves if curve.panel == panel]
        alone = len({curve.curve.id for curve in of_panel}) == 1
        shown = {_name_curve(c, alone, len(labels) == 1): c.points for c in of_panel if not isinstance(c.points, Missing)}
        if shown:
            drawn.append(draw_curves(panel, shown, ("step", "")))
    return drawn


def _name_curve(curve: FilledCurve, alone: bool, one_run: bool) -> str:
    if alone:
        return curve.label
    return curve.curve.name if one_run else f"{curve.label}: {curve.curve.name}"


def _draw_bars(filled: FilledTable) -> list[str]:
    panels = {column.name: _list_shown(filled.rows, column) for column in filled.table.columns}
    shown = {name: rows for name, rows in panels.items() if rows}
    names = [row.name for row in filled.rows if any(row.name in rows for rows in shown.values())]
    return [draw_panels("Measured here, with 95% intervals", names, shown)] if shown else []


def _draw_steps(filled: FilledTable) -> list[str]:
    """Draw a line for each series of labels SERIES@STEP."""
    drawn = []
    for column in filled.table.columns:
        series: dict[str, list[tuple[int, Interval]]] = {}
        for row in filled.rows:
            at, shown = step_of(row.label), _shown_of(row.cells[column.id])
            if at is not None and shown is not None:
                series.setdefault(at[0], []).append((at[1], shown))
        lines = {name: sorted(points, key=lambda point: point[0]) for name, points in series.items()}
        if lines:
            drawn.append(draw_series(f"{column.name}, with 95% intervals", lines, ("training step", column.name), False))
    return drawn


def _draw_efficiency(filled: FilledTable) -> list[str]:
    """Draw the first column against the next two, and lines over the limits of calls and of context (MindDR Fig. 9)."""
    main, *costs = filled.table.columns[:3]
    drawn = []
    for column in costs:
        rows = [(row.name, row.cells[column.id].value, row.cells[main.id].value) for row in filled.rows]
        points = {name: (x, y) for name, x, y in rows if isinstance(x, float) and isinstance(y, float)}
        if points:
            drawn.append(draw_named_points(f"{main.name} and {column.name}", points, (column.name, main.name)))
    limits: tuple[tuple[str, Callable[[PaperColumn], int]], ...] = (
        ("tool calls", lambda column: column.call_limit),
        ("tokens of context", lambda column: column.context_limit),
    )
    return [*drawn, *(svg for label, limit_of in limits if (svg := _draw_limits(filled, main, label, limit_of)))]


def _draw_limits(filled: FilledTable, main: PaperColumn, label: str, limit_of: Callable[[PaperColumn], int]) -> str:
    """Draw a line for each row: over the limits under which it was measured, else over its lower bounds, never over both."""
    columns = [column for column in filled.table.columns if limit_of(column)]
    lines: dict[str, list[tuple[int, Interval]]] = {}
    for row in filled.rows:
        found = [(limit_of(column), row.cells[column.id], _shown_of(row.cells[column.id])) for column in columns]
        measured = [(limit, shown) for limit, cell, shown in found if shown is not None and LOWER_BOUND not in cell.marks]
        bounds = [(limit, shown) for limit, _, shown in found if shown is not None]
        if bounds:
            lines[row.name if measured else f"{row.name} ({LOWER_BOUND})"] = measured or bounds
    return draw_series(f"{main.name} within a limit of {label}", lines, (label, main.name), True) if lines else ""


def _list_shown(rows: Sequence[FilledRow], column: PaperColumn) -> dict[str, Interval]:
    found = ((row.name, _shown_of(row.cells[column.id])) for row in rows)
    return {name: shown for name, shown in found if shown is not None}


def _shown_of(cell: Cell) -> Interval | None:
    """Return a comparable cell's value with its interval; a value without one stands alone."""
    if isinstance(cell.value, Missing) or not cell.comparable:
        return None
    return Interval(cell.value, cell.value, cell.value) if isinstance(cell.interval, Missing) else cell.interval


_DRAWERS: Mapping[PlotKind, Callable[[FilledTable], list[str]]] = {
    PlotKind.NONE: lambda _: [],
    PlotKind.BARS: _draw_bars,
    PlotKind.STEPS: _draw_steps,
    PlotKind.EFFICIENCY: _draw_efficiency,
}
