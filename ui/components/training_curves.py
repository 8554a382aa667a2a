"""The curves of the run that made a model: each figure over the steps of the training."""

from collections.abc import Mapping, Sequence
from typing import Any

from ui.components.markup import escape
from ui.components.point_plot import PlotPoint, plot_html
from ui.language import say, say_name

CURVES, MOST = "curves", 8


def curves_html(figures: Mapping[str, Any]) -> str:
    """Return the first curves among figures as HTML; nothing where there is none. The model card tells of all."""
    curves: Mapping[str, Sequence[tuple[float, float]]] = figures.get(CURVES) or {}
    drawn = [(name, [PlotPoint(*point) for point in points]) for name, points in curves.items() if points]
    return "".join(_curve_html(name, points) for name, points in drawn[:MOST])


def _curve_html(name: str, points: Sequence[PlotPoint]) -> str:
    values = [point.value for point in points]
    told = say(
        "models.curve",
        first=f"{values[0]:.3g}",
        last=f"{values[-1]:.3g}",
        least=f"{min(values):.3g}",
        most=f"{max(values):.3g}",
        steps=f"{points[-1].place:,.0f}",
    )
    return f"<p><strong>{escape(say_name('measured', name))}</strong></p>{plot_html(points, told)}"
