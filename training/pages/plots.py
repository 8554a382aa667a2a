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
COLORS = (ACCENT, "#c05621", "#2f855a", "#805ad5", "#b7791f", "#4a5568")
FEW_POINTS = 40
MOST_PANELS_BESIDE = 3
GRID, SMOOTHING = 60, 0.12
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


def draw_panels(title: str, names: Sequence[str], panels: Mapping[str, Mapping[str, Interval]]) -> str:
    """Draw a panel for each metric, with a bar and its interval for each name that has it; the first name is on top."""
    beside = min(MOST_PANELS_BESIDE, len(panels))
    tall = -(-len(panels) // beside)
    with _open_figure(tall * (MARGIN + ROW * len(names))) as (figure, svg):
        figure.suptitle(_escape_dollars(title), x=0.01, ha="left", fontsize=10)
        found = figure.subplots(tall, beside, sharey=True, squeeze=False)
        for axes, (panel, rows) in zip(found.flat, panels.items(), strict=False):
            _fill_panel(axes, panel, [rows.get(name) for name in names])
        for axes in found.flat[len(panels) :]:
            axes.set_visible(False)
        for axes in found[:, 0]:
            axes.set_yticks(range(len(names)), [_escape_dollars(name) for name in names])
        found[0, 0].set_ylim(len(names) - 0.5, -0.5)
    return svg[0]


def _fill_panel(axes: Any, panel: str, rows: Sequence[Interval | None]) -> None:
    for place, at in enumerate(rows):
        if at is not None:
            axes.barh(place, at.value, color=ACCENT, height=0.55, alpha=0.55)
            axes.plot([at.low, at.high], [place, place], color=INK, linewidth=1.2)
    axes.set_title(_escape_dollars(panel), fontsize=9, loc="left")
    axes.grid(axis="x", color=SOFT, linewidth=0.6)
    axes.set_axisbelow(True)


def draw_named_points(title: str, points: Mapping[str, tuple[float, float]], labels: tuple[str, str]) -> str:
    """Draw a dot with its name for each system, and lines at the means, which part the plane into quadrants."""
    with _open_axes(title, 3.0) as (axes, svg):
        for name, (x, y) in points.items():
            axes.plot([x], [y], "o", color=ACCENT, markersize=6)
            axes.annotate(_escape_dollars(name), (x, y), xytext=(5, 4), textcoords="offset points", fontsize=8)
        axes.axvline(sum(x for x, _ in points.values()) / len(points), color=SOFT, linestyle="--")
        axes.axhline(sum(y for _, y in points.values()) / len(points), color=SOFT, linestyle="--")
        axes.margins(0.15)
        axes.set_xlabel(_escape_dollars(labels[0]))
        axes.set_ylabel(_escape_dollars(labels[1]))
    return svg[0]


def draw_series(title: str, series: Mapping[str, Sequence[tuple[int, Interval]]], labels: tuple[str, str], doubling: bool) -> str:
    """Draw a line of values with their intervals for each name; `doubling`: over a scale of powers of two."""
    with _open_axes(title, 2.6) as (axes, svg):
        for color, (name, points) in zip(cycle(COLORS), series.items(), strict=False):
            at, found = [place for place, _ in points], [interval for _, interval in points]
            axes.vlines(at, [i.low for i in found], [i.high for i in found], color=color, alpha=0.4, linewidth=3)
            axes.plot(at, [i.value for i in found], "o-", color=color, label=_escape_dollars(name), linewidth=1.4, markersize=4)
        if doubling:
            limits = sorted({place for points in series.values() for place, _ in points})
            axes.set_xscale("log", base=2)
            axes.set_xticks(limits, [str(limit) for limit in limits])
        axes.legend(frameon=False)
        axes.set_xlabel(_escape_dollars(labels[0]))
        axes.set_ylabel(_escape_dollars(labels[1]))
        axes.grid(color=SOFT, linewidth=0.6)
    return svg[0]


def draw_map(title: str, groups: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Draw one dot for each item of several groups, and lines of equal density of the first group.

    The density is a sum of bells; each is as wide as a share of the whole map.
    """
    import numpy as np

    points = {name: np.array(own, dtype=float).reshape(-1, 2) for name, own in groups.items()}
    every = np.concatenate([*points.values()])
    low, high = every.min(axis=0), every.max(axis=0)
    width = SMOOTHING * np.maximum(high - low, 1e-6)
    xs, ys = (np.linspace(low[side] - width[side], high[side] + width[side], GRID) for side in (0, 1))
    first = next(iter(points.values()))
    bells_x = np.exp(-(((xs[:, None] - first[:, 0]) / width[0]) ** 2) / 2)
    bells_y = np.exp(-(((ys[:, None] - first[:, 1]) / width[1]) ** 2) / 2)
    with _open_axes(title, 4.4) as (axes, svg):
        axes.contour(xs, ys, bells_y @ bells_x.T, levels=6, colors=SOFT, linewidths=0.8)
        for color, (name, own) in zip(cycle(COLORS), points.items(), strict=False):
            label = f"{_escape_dollars(name)} ({len(own)})"
            axes.plot(own[:, 0], own[:, 1], "o", color=color, alpha=0.6, markersize=3, label=label)
        axes.legend(frameon=False)
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
            axes.figure.legend(frameon=False, loc="outside right upper")
        axes.set_xlabel(_escape_dollars(labels[0]))
        axes.set_ylabel(_escape_dollars(labels[1]))
        axes.grid(color=SOFT, linewidth=0.6)
    return svg[0]


@contextmanager
def _open_axes(title: str, height: float) -> Iterator[tuple[Any, list[str]]]:
    """Yield the axes of a new figure, and a list that receives its SVG at the end. No global state and no display is used."""
    with _open_figure(height) as (figure, svg):
        axes = figure.add_subplot()
        axes.set_title(_escape_dollars(title), loc="left", fontsize=10)
        yield axes, svg


@contextmanager
def _open_figure(height: float) -> Iterator[tuple[Any, list[str]]]:
    """Yield a new figure, and a list that receives its SVG at the end."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    svg: list[str] = []
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        yield figure, svg
        written = io.StringIO()
        FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None})  # type: ignore[no-untyped-call]
    text = written.getvalue()
    svg.append(text[text.index("<svg") :])


def _escape_dollars(text: str) -> str:
    """Escape dollar signs, which would begin a formula."""
    return text.replace("$", r"\$")
