"""The report of a training run: its curves, its figures, what it took, what decided it. It is written anew as the run goes."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from training.folders import replace_file
from training.pages.markup import render_document, render_table
from training.pages.plots import draw_curves
from training.recipes.config import CostSection
from training.recipes.run_folder import MODEL, REPORT, SAMPLES, StepMetrics, TrainingFolder, TrainingOrigin

SECONDS_AN_HOUR = 3_600
REFRESH = 30
MOMENTS = ("before", "after")


def write_report(folder: TrainingFolder, cost: CostSection) -> None:
    """Write the report as things stand."""
    origin = folder.origin
    ending = folder.ending
    state = f"finished: {MODEL}/ holds the trained model" if folder.is_finished else "" if ending else "under way"
    parts = [
        f"<h1>{escape(origin.recipe)}</h1>",
        f"<p>{'. '.join(escape(said) for said in (state, ending) if said)}.</p>",
        f'<p><a href="{SAMPLES}">Samples, with what is trained in colour</a></p>' if (folder.path / SAMPLES).exists() else "",
        _render_figures(folder.read_figures()),
        _render_metrics(folder.read_metrics()),
        _render_cost(folder.seconds, cost),
        _render_origin(origin),
    ]
    page = render_document(f"{origin.recipe}: training", parts, refresh=0 if folder.is_finished or ending else REFRESH)
    replace_file(folder.path / REPORT, page.encode())


def _render_figures(figures: Mapping[str, float]) -> str:
    """Show the figures of the run; those before and after stand side by side."""
    compared = dict.fromkeys(name.rpartition(", ")[0] for name in figures if name.rpartition(", ")[2] in MOMENTS)
    single = [[name, f"{value:.4g}"] for name, value in figures.items() if name.rpartition(", ")[0] not in compared]
    pairs = [[name, *(_show_figure(figures.get(f"{name}, {moment}")) for moment in MOMENTS)] for name in compared]
    tables = [render_table(["", "value"], single)] if single else []
    tables += [render_table(["", *MOMENTS], pairs)] if pairs else []
    return f"<h2>Figures</h2>{''.join(tables)}" if tables else ""


def _show_figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _render_metrics(metrics: Sequence[StepMetrics]) -> str:
    """Draw what was logged over the steps, and name what never changed. `format/64k` and `format/128k` share a plot."""
    names = dict.fromkeys(name for each in metrics for name in each.values)
    curves = {name: [(float(e.step), e.values[name]) for e in metrics if name in e.values] for name in names}
    still = {name: points[0][1] for name, points in curves.items() if len({value for _, value in points}) == 1}
    plots: dict[str, list[str]] = {}
    for name in (each for each in curves if each not in still):
        plots.setdefault(name.partition("/")[0], []).append(name)
    drawn = "".join(_draw_plot(plot, {name: curves[name] for name in own}) for plot, own in plots.items())
    said = ", ".join(f"{name} {value:.4g}" for name, value in still.items())
    return f'<h2>Curves</h2><div class="curves">{drawn}</div>' + (
        f"<p>The same at each step: {escape(said)}.</p>" if said else ""
    )


def _draw_plot(plot: str, curves: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    title = plot if len(curves) > 1 else next(iter(curves))
    named = {name.removeprefix(f"{plot}/"): points for name, points in curves.items()}
    return f"<figure>{draw_curves(title, named, ('step', ''))}</figure>"


def _render_cost(seconds: float, cost: CostSection) -> str:
    """Show device-hours and their price (as DeepRubric's Table 3 and MindDR 6.3 count them)."""
    hours = seconds / SECONDS_AN_HOUR * cost.devices
    told = [["devices", str(cost.devices)], ["device-hours", f"{hours:.4f}"], ["US$", f"{hours * cost.dollars_per_hour:.2f}"]]
    return "<h2>Cost</h2>" + render_table(["", ""], told if cost.dollars_per_hour else told[:-1])


def _render_origin(origin: TrainingOrigin) -> str:
    told = [
        *_list_values("", origin.config),
        *([f"data: {name}", digest] for name, digest in origin.data.items()),
        *([f"base: {name}", digest] for name, digest in origin.base.items()),
        *([name, version] for name, version in origin.packages.items()),
        ["code", origin.code],
        ["device", origin.device],
        ["began", origin.started_at.isoformat(timespec="seconds")],
    ]
    return "<h2>Made with</h2>" + render_table(["", ""], told)


def _list_values(name: str, value: Any) -> list[list[str]]:
    """Return the values of a configuration by their full names. What is not set is left out."""
    if isinstance(value, Mapping):
        return [row for key, each in value.items() for row in _list_values(f"{name}.{key}" if name else key, each)]
    if isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        return [row for number, each in enumerate(value, start=1) for row in _list_values(f"{name} {number}", each)]
    shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return [] if value in (None, "", []) else [[name, shown]]
