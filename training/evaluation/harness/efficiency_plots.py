"""The plots of MindDR's Fig. 9 for one run: its main figure against tool calls and context, and right answers within limits."""

from collections.abc import Callable, Sequence

from app.domain.missing import Missing
from training.evaluation.efficiency import (
    CONTEXT_LIMITS,
    TOOL_CALL_LIMITS,
    AtLimit,
    Attempt,
    context_of,
    tool_calls_of,
    under_limits,
)
from training.evaluation.harness.module_counts import CALLS, CONTEXT
from training.evaluation.harness.plots import line, scatter
from training.evaluation.harness.scores import Scores
from training.evaluation.preference_metrics import Interval

FEWEST_POINTS = 3
SERIES: tuple[tuple[str, str, Sequence[int], Callable[[Attempt], int]], ...] = (
    ("tool calls", CALLS, TOOL_CALL_LIMITS, tool_calls_of),
    ("tokens of the longest context", CONTEXT, CONTEXT_LIMITS, context_of),
)


def efficiency_plots(main: str, scores: Sequence[Scores]) -> list[str]:
    """As SVG; none where fewer than three items have both. Lines are drawn where the main figure is right or wrong."""
    both = [score.values for score in scores if {main, CALLS, CONTEXT} <= score.values.keys()]
    if len(both) < FEWEST_POINTS:
        return []
    drawn = [scatter(f"{main} by {label}", [(row[name], row[main]) for row in both], (label, main)) for label, name, *_ in SERIES]
    if any(row[main] not in (0.0, 1.0) for row in both):
        return drawn
    attempts = [Attempt(row[main] == 1.0, int(row[CALLS]), int(row[CONTEXT])) for row in both]
    lines = [(label, under_limits(attempts, limits, used)) for label, _, limits, used in SERIES]
    return [*drawn, *(line(f"{main} within a limit of {label}", _points(found), (label, main)) for label, found in lines)]


def _points(found: Sequence[AtLimit]) -> list[tuple[int, Interval]]:
    return [(at.limit, at.accuracy) for at in found if not isinstance(at.accuracy, Missing)]
