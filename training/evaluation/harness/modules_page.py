"""The part of a run's page about modules: module metrics, the spread of turns and tool calls, and MindDR's Fig. 9."""

from collections.abc import Callable, Sequence

from app.domain.interactions import Interactions, Spread, statistics_of
from app.domain.missing import Missing
from training.evaluation.efficiency import (
    CONTEXT_LIMITS,
    TOOL_CALL_LIMITS,
    LimitAccuracy,
    MeasuredAttempt,
    accuracy_under_limits,
    context_of,
    tool_calls_of,
)
from training.evaluation.harness.figure_table import render_figure_table
from training.evaluation.harness.figures import estimate_figures
from training.evaluation.harness.module_counts import CALLS, CONTEXT, interactions_of, module_figures_of
from training.evaluation.harness.scores import ItemScores
from training.evaluation.intervals import Interval
from training.pages.markup import render_table
from training.pages.plots import draw_line, draw_scatter

SPREAD = ["mean", "standard deviation", "least", "lower quartile", "median", "upper quartile", "most"]
FEWEST_POINTS = 3
SERIES: tuple[tuple[str, str, Sequence[int], Callable[[MeasuredAttempt], int]], ...] = (
    ("tool calls", CALLS, TOOL_CALL_LIMITS, tool_calls_of),
    ("tokens of the longest context", CONTEXT, CONTEXT_LIMITS, context_of),
)


def render_modules(main: str, scores: Sequence[ItemScores]) -> list[str]:
    """Render the module metrics of these items; nothing without counts. The plots show the value `main` against its cost."""
    found = estimate_figures(module_figures_of(scores), scores)
    if not found:
        return []
    plots = [f"<figure>{svg}</figure>" for svg in draw_efficiency_plots(main, scores)]
    return ["<h2>Modules</h2>", render_figure_table(found), *_render_spreads(interactions_of(scores)), *plots]


def draw_efficiency_plots(main: str, scores: Sequence[ItemScores]) -> list[str]:
    """Draw the main value against tool calls and context, and its share within limits (MindDR Fig. 9), as SVG.

    There are no plots for fewer than three items with both values, and lines only where the main value is right or wrong.
    """
    both = [score.values for score in scores if {main, CALLS, CONTEXT} <= score.values.keys()]
    if len(both) < FEWEST_POINTS:
        return []
    drawn = [
        draw_scatter(f"{main} by {label}", [(row[name], row[main]) for row in both], (label, main)) for label, name, *_ in SERIES
    ]
    if any(row[main] not in (0.0, 1.0) for row in both):
        return drawn
    attempts = [MeasuredAttempt(row[main] == 1.0, int(row[CALLS]), int(row[CONTEXT])) for row in both]
    lines = [(label, accuracy_under_limits(attempts, limits, used)) for label, _, limits, used in SERIES]
    return [*drawn, *(draw_line(f"{main} within a limit of {label}", _points_of(found), (label, main)) for label, found in lines)]


def _points_of(found: Sequence[LimitAccuracy]) -> list[tuple[int, Interval]]:
    return [(at.limit, at.accuracy) for at in found if not isinstance(at.accuracy, Missing)]


def _render_spreads(samples: Sequence[Interactions]) -> list[str]:
    if not samples:
        return []
    found = statistics_of(samples)
    rows = [_spread_row("turns", found.turns), _spread_row("tool calls", found.tool_calls)]
    return ["<h2>Turns and tool calls</h2>", render_table([f"samples: {found.samples}", *SPREAD], rows)]


def _spread_row(name: str, s: Spread) -> list[str]:
    quartiles = (f"{value:g}" for value in (s.lower, s.median, s.upper))
    return [name, f"{s.mean:.2f}", f"{s.sd:.2f}", str(s.least), *quartiles, str(s.most)]
