"""One cell of a paper's table: the figure of the one run that fits it, or the reason why there is none."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from app.domain.errors import InvalidInput
from app.domain.missing import Missing
from training.evaluation.benchmarks.catalogue import load_benchmark
from training.evaluation.harness.caps import Caps
from training.evaluation.harness.figures import BenchmarkFigure, FigureRow, estimate_figures
from training.evaluation.harness.module_counts import CALLS, CONTEXT, module_figures_of
from training.evaluation.harness.parts import FILE
from training.evaluation.harness.scores import ItemScores
from training.evaluation.intervals import Interval
from training.evaluation.paper_tables.description import PaperColumn, PaperRow
from training.evaluation.paper_tables.labels import LabelledRun
from training.rewards.score import Score, require_present

LOWER_BOUND = "a lower bound, from a run without limits"
NO_RUN = "no run has this row's label"


@dataclass(frozen=True, slots=True)
class Cell:
    """A filled or empty cell. An empty one's `value` is Missing with the reason.

    `run` is None in empty cells and in averages. `marks` say what a reader must know of the value. `comparable`: nothing keeps it
    from being compared with the column's first filled cell.
    """

    value: Score
    interval: Interval | Missing
    items: int = 0
    run: LabelledRun | None = None
    marks: tuple[str, ...] = ()
    comparable: bool = True


def fill_cell(column: PaperColumn, row: PaperRow, runs: Sequence[LabelledRun]) -> Cell:
    """Fill a cell from the row's runs.

    Raises:
        InvalidInput: two of them fit it.
    """
    if not runs:
        return _empty(NO_RUN)
    fitting = [run for run in runs if not why_unfit(column, row, run)]
    exact = [run for run in fitting if run.manifest.system.caps == _caps_of(column)] or fitting
    first = [[run for run in exact if run.manifest.benchmark == benchmark] for benchmark in column.benchmarks]
    chosen = next((found for found in first if found), [])
    if len(chosen) > 1:
        told = " and ".join(str(run.folder) for run in chosen)
        raise InvalidInput(f"{told} both fill {column.name!r} of {chosen[0].label!r}; give one of them another label")
    return _estimate(column, chosen[0]) if chosen else _empty(_why_empty(column, row, runs))


def why_unfit(column: PaperColumn, row: PaperRow, run: LabelledRun) -> str:
    """Say why a run does not fill a cell; empty where it does."""
    manifest, variants = run.manifest, row.variants or column.variants
    if manifest.benchmark not in column.benchmarks:
        return f"takes a run of {' or '.join(column.benchmarks)}"
    if variants and manifest.variant not in variants:
        return f"takes the variant {' or '.join(variants)}, and its run is of {manifest.variant or 'another'}"
    if row.systems and manifest.system.name not in row.systems:
        return f"takes the system {' or '.join(row.systems)}, and its run is of {manifest.system.name}"
    caps = manifest.system.caps
    if caps not in (_caps_of(column), Caps()):
        return "takes a run without limits" if _caps_of(column) == Caps() else "takes a run under this limit, or without limits"
    return ""


def figure_of(column: PaperColumn, run: LabelledRun) -> BenchmarkFigure | Missing:
    """Return the column's figure over a run's items, as a share or mean, before `scale` and `complement`."""
    benchmark = load_benchmark(run.manifest.benchmark)
    known = {**benchmark.figures, **module_figures_of(run.record.scored)}
    if lacking := [name for name in column.figures if name not in known]:
        return Missing(f"its run has counted no {' or '.join(lacking)}")
    figure = _average_figures([known[name] for name in column.figures])
    limited = (column.call_limit or column.context_limit) and run.manifest.system.caps == Caps()
    return _limit_figure(figure, column) if limited else figure


def scored_of(column: PaperColumn, run: LabelledRun) -> list[ItemScores]:
    """Return the scored items that the column counts."""
    return [score for score in run.record.scored if column.language in (None, score.language)]


def scale_value(column: PaperColumn, value: float) -> float:
    """Return a value in the column's unit."""
    return column.scale * (1.0 - value if column.complement else value)


def average_cells(cells: Sequence[Cell]) -> Cell:
    """Average filled cells of one row. The interval recovers each cell's variance from its own bounds (Zou and Donner 2008)."""
    values = require_present(cell.value for cell in cells)
    if isinstance(values, Missing):
        return _empty(
            NO_RUN if all(cell.value == Missing(NO_RUN) for cell in cells) else "takes all the columns that it averages"
        )
    marks = tuple(dict.fromkeys(mark for cell in cells for mark in cell.marks))
    whole = Cell(fmean(values), Missing("not all have an interval"), sum(cell.items for cell in cells), None, marks)
    return replace(whole, interval=_average_intervals(cells), comparable=all(cell.comparable for cell in cells))


def _average_intervals(cells: Sequence[Cell]) -> Interval | Missing:
    found = require_present(cell.interval for cell in cells)
    if isinstance(found, Missing):
        return found
    mean = fmean(interval.value for interval in found)
    below = math.hypot(*(interval.value - interval.low for interval in found)) / len(found)
    above = math.hypot(*(interval.high - interval.value for interval in found)) / len(found)
    return Interval(mean, mean - below, mean + above)


def _estimate(column: PaperColumn, run: LabelledRun) -> Cell:
    figure, scores = figure_of(column, run), scored_of(column, run)
    if isinstance(figure, Missing):
        return _empty(figure.reason)
    found = estimate_figures({column.id: figure}, scores)[0]
    if isinstance(found.value, Missing):
        return _empty(f"its run has no value: {found.value.reason}")
    interval = found.interval if isinstance(found.interval, Missing) else _scale_interval(column, found.interval)
    return Cell(scale_value(column, found.value), interval, found.items, run, tuple(_list_marks(column, run, found.items)))


def _scale_interval(column: PaperColumn, interval: Interval) -> Interval:
    low, high = sorted(scale_value(column, bound) for bound in (interval.low, interval.high))
    return Interval(scale_value(column, interval.value), low, high)


def _list_marks(column: PaperColumn, run: LabelledRun, items: int) -> list[str]:
    """List what a reader must know of a value that this run gives."""
    system = run.manifest.system
    wanted = len(scored_of(column, run)) if column.language else len(run.manifest.items)
    searched = system.name != FILE and not system.services
    limited = column.call_limit or column.context_limit
    told = (
        (run.manifest.demonstration, "a demonstration, which measures nothing"),
        (items < wanted, f"{items} of {wanted} items have this value"),
        (limited and system.caps == Caps(), LOWER_BOUND),
        (column.web and searched, "searched without the web that the benchmark asks"),
        (column.stand_in, column.stand_in),
    )
    return [mark for holds, mark in told if holds]


def _why_empty(column: PaperColumn, row: PaperRow, runs: Sequence[LabelledRun]) -> str:
    """Say what the cell takes; where a run is of its benchmark, why that run does not fit."""
    near = [run for run in runs if run.manifest.benchmark in column.benchmarks] or runs
    reason = why_unfit(column, row, near[0])
    return f"{reason} ({column.stand_in})" if column.stand_in and near is runs else reason


def _average_figures(figures: Sequence[BenchmarkFigure]) -> BenchmarkFigure:
    if len(figures) == 1:
        return figures[0]

    def average(rows: Sequence[FigureRow]) -> Score:
        found = require_present(figure.of(rows) for figure in figures)
        return found if isinstance(found, Missing) else fmean(found)

    return BenchmarkFigure(tuple(dict.fromkeys(name for figure in figures for name in figure.needs)), average)


def _limit_figure(figure: BenchmarkFigure, column: PaperColumn) -> BenchmarkFigure:
    """Count an item as right where it is right and stayed within the limit (`efficiency.accuracy_under_limits`)."""
    value, used, limit = figure.needs[0], CALLS if column.call_limit else CONTEXT, column.call_limit or column.context_limit
    return BenchmarkFigure((value, used), lambda rows: fmean(row[value] == 1.0 and row[used] <= limit for row in rows))


def _caps_of(column: PaperColumn) -> Caps:
    return Caps(calls=column.call_limit, context=column.context_limit)


def _empty(reason: str) -> Cell:
    return Cell(Missing(reason), Missing(reason))
