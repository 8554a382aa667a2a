"""How a system worked: its module metrics, how its turns and tool calls spread over the items, and MindDR's Fig. 9."""

from collections.abc import Sequence

from app.domain.interactions import Interactions, Spread, statistics_of
from training.evaluation.harness.efficiency_plots import efficiency_plots
from training.evaluation.harness.figures import told
from training.evaluation.harness.markup import figure_table, table
from training.evaluation.harness.module_counts import interactions_in, module_figures
from training.evaluation.harness.scores import Scores

SPREAD = ["mean", "standard deviation", "least", "lower quartile", "median", "upper quartile", "most"]


def modules(main: str, scores: Sequence[Scores], seed: int) -> list[str]:
    """What could be counted of these items; nothing where nothing could. `main` is what the plots show against its cost."""
    found = told(module_figures(scores), scores, seed)
    if not found:
        return []
    plots = [f"<figure>{svg}</figure>" for svg in efficiency_plots(main, scores)]
    return ["<h2>Modules</h2>", figure_table(found), *_spreads(interactions_in(scores)), *plots]


def _spreads(samples: Sequence[Interactions]) -> list[str]:
    if not samples:
        return []
    found = statistics_of(samples)
    rows = [_spread("turns", found.turns), _spread("tool calls", found.tool_calls)]
    return ["<h2>Turns and tool calls</h2>", table([f"samples: {found.samples}", *SPREAD], rows)]


def _spread(name: str, s: Spread) -> list[str]:
    quartiles = (f"{value:g}" for value in (s.lower, s.median, s.upper))
    return [name, f"{s.mean:.2f}", f"{s.sd:.2f}", str(s.least), *quartiles, str(s.most)]
