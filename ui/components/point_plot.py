"""Points over a range, drawn as HTML: a curve of a training, or a rate with its interval, day by day."""

from collections.abc import Sequence
from typing import NamedTuple

from ui.components.markup import escape

WIDTH, HEIGHT, MOST = 320, 72, 80


class PlotPoint(NamedTuple):
    """A value at a place, perhaps with an interval around it."""

    place: float
    value: float
    low: float | None = None
    high: float | None = None


def plot_html(points: Sequence[PlotPoint], told: str) -> str:
    """Return a drawing, with at most `MOST` of the points; `told` says in words what it shows."""
    step = -(-len(points) // MOST) or 1
    shown = [*points[::step], *([points[-1]] if (len(points) - 1) % step else [])]
    bounds = [bound for each in shown for bound in (each.value, each.low, each.high) if bound is not None]
    floor, span = min(bounds), (max(bounds) - min(bounds)) or 1.0
    first, length = shown[0].place, (shown[-1].place - shown[0].place) or 1.0
    marks = "".join(_mark_html(each, (each.place - first) / length, floor, span) for each in shown)
    return (
        f'<div class="r-plot" role="img" aria-label="{escape(told)}" style="width:{WIDTH}px;height:{HEIGHT}px">{marks}</div>'
        f'<span class="r-quiet">{escape(told)}</span>'
    )


def _mark_html(point: PlotPoint, share: float, floor: float, span: float) -> str:
    """Return the dot of a point, above the bar of its interval."""
    left = round(share * WIDTH)

    def height(value: float) -> int:
        return round((value - floor) / span * HEIGHT)

    bar = ""
    if point.low is not None and point.high is not None:
        bottom, top = height(point.low), height(point.high)
        bar = f'<i class="bar" style="left:{left}px;bottom:{bottom}px;height:{top - bottom}px"></i>'
    return f'{bar}<i style="left:{left}px;bottom:{height(point.value)}px"></i>'
