"""The table of figures with their intervals, which several pages show."""

from collections.abc import Sequence

from training.evaluation.harness.figures import FigureEstimate
from training.pages.markup import format_interval, format_number, render_table


def render_figure_table(found: Sequence[FigureEstimate]) -> str:
    """Render figures with their intervals as a table."""
    return render_table(["figure", "value", "95% interval", "items"], [_figure_row_of(figure) for figure in found])


def _figure_row_of(figure: FigureEstimate) -> list[str]:
    return [figure.name, format_number(figure.value), format_interval(figure.interval), str(figure.items)]
