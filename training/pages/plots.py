"""Plots as SVG, ready for a page. matplotlib is loaded when the first one is drawn."""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Any

from training.evaluation.intervals import Interval

WIDTH = 7.2
ROW = 0.32
MARGIN = 0.9
INK, SOFT, ACCENT = "#333333", "#d9d9d9", "#2b6cb0"
COLORS = (ACCENT, "#c05621", "#2f855a", "#805ad5")
FEW_POINTS = 40
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "rubrica",
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def draw_intervals(title: str, rows: Mapping[str, Interval], zero: bool = False) -> str:
    """Draw a point and its interval for each name, the first on top; with `zero` a line where there is no difference."""
    with _open_axes(title, MARGIN + ROW * len(rows)) as (axes, svg):
        for place, interval in enumerate(reversed([*rows.values()])):
            axes.plot([interval.low, interval.high], [place, place], color=ACCENT, linewidth=2)
            axes.plot([interval.value], [place], "o", color=ACCENT, markersize=5)
        if zero:
            axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.set_yticks(range(len(rows)), [_escape_dollars(name) for name in reversed([*rows])])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.grid(axis="x", color=SOFT, linewidth=0.6)
    return svg[0]


def draw_histogram(title: str, values: Sequence[float], label: str) -> str:
    """Draw the number of items by value."""
    with _open_axes(title, 2.2) as (axes, svg):
        axes.hist(values, bins=min(20, max(5, len(values) // 3)), color=ACCENT, edgecolor="white")
        axes.set_xlabel(_escape_dollars(label))
        axes.set_ylabel("items")
        axes.yaxis.get_major_locator().set_params(integer=True)
    return svg[0]


def draw_bars(title: str, rows: Mapping[str, float], label: str) -> str:
    """Draw one bar for each name, the first on top."""
    with _open_axes(title, MARGIN + ROW * len(rows)) as (axes, svg):
        axes.barh(range(len(rows)), list(reversed([*rows.values()])), color=ACCENT, height=0.6)
        axes.set_yticks(range(len(rows)), [_escape_dollars(name) for name in reversed([*rows])])
        axes.set_xlabel(_escape_dollars(label))
        axes.grid(axis="x", color=SOFT, linewidth=0.6)
        axes.set_axisbelow(True)
    return svg[0]


def draw_scatter(title: str, points: Sequence[tuple[float, float]], labels: tuple[str, str]) -> str:
    """Draw one dot for each item."""
    with _open_axes(title, 2.6) as (axes, svg):
        axes.plot([x for x, _ in points], [y for _, y in points], "o", color=ACCENT, alpha=0.6, markersize=4)
        axes.set_xlabel(_escape_dollars(labels[0]))
        axes.set_ylabel(_escape_dollars(labels[1]))
        axes.grid(color=SOFT, linewidth=0.6)
    return svg[0]


def draw_line(title: str, points: Sequence[tuple[int, Interval]], labels: tuple[str, str]) -> str:
    """Draw a line of values with their intervals, at limits on a scale of powers of two."""
    with _open_axes(title, 2.6) as (axes, svg):
        limits = [limit for limit, _ in points]
        axes.fill_between(limits, [i.low for _, i in points], [i.high for _, i in points], color=SOFT)
        axes.plot(limits, [i.value for _, i in points], "o-", color=ACCENT, markersize=5)
        axes.set_xscale("log", base=2)
        axes.set_xticks(limits, [str(limit) for limit in limits])
        axes.set_ylim(0.0, 1.02)
        axes.set_xlabel(_escape_dollars(labels[0]))
        axes.set_ylabel(_escape_dollars(labels[1]))
        axes.grid(color=SOFT, linewidth=0.6)
    return svg[0]


def draw_curves(title: str, curves: Mapping[str, Sequence[tuple[float, float]]], labels: tuple[str, str]) -> str:
    """Draw one line for each name, over steps."""
    with _open_axes(title, 2.4) as (axes, svg):
        for color, (name, points) in zip(cycle(COLORS), curves.items(), strict=False):
            mark = "o-" if len(points) < FEW_POINTS else "-"
            axes.plot(*zip(*points, strict=True), mark, color=color, label=_escape_dollars(name), linewidth=1.4, markersize=3)
        if len(curves) > 1:
            axes.legend(frameon=False)
        axes.set_xlabel(_escape_dollars(labels[0]))
        axes.set_ylabel(_escape_dollars(labels[1]))
        axes.grid(color=SOFT, linewidth=0.6)
    return svg[0]


@contextmanager
def _open_axes(title: str, height: float) -> Iterator[tuple[Any, list[str]]]:
    """Yield the axes of a new figure, and a list that receives its SVG at the end. No global state and no display is used."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    svg: list[str] = []
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(_escape_dollars(title), loc="left", fontsize=10)
        yield axes, svg
        written = io.StringIO()
        FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None})  # type: ignore[no-untyped-call]
    text = written.getvalue()
    svg.append(text[text.index("<svg") :])


def _escape_dollars(text: str) -> str:
    """Escape dollar signs, which would begin a formula."""
    return text.replace("$", r"\$")
