"""The report of a training run: its curves, its figures, what it took, what decided it. It is written anew as the run goes."""

from collections.abc import Mapping, Sequence
from html import escape

from training.folders import replace_file
from training.pages.markup import format_number, render_document, render_table
from training.pages.plots import draw_curves
from training.recipes.config import CostSection
from training.recipes.run_folder import MODEL, REPORT, SAMPLES, StepMetrics, TrainingFolder, TrainingOrigin

SECONDS_AN_HOUR = 3_600
REFRESH = 30
NOT_DRAWN = frozenset({"epoch"})


def write_report(folder: TrainingFolder, cost: CostSection) -> None:
    """Write the report as things stand."""
    origin, metrics = folder.origin, folder.read_metrics()
    state = f"finished: {MODEL}/ holds the trained model" if folder.is_finished else "under way"
    parts = [
        f"<h1>{escape(origin.recipe)}</h1>",
        f"<p>{state}.</p>",
        f'<p><a href="{SAMPLES}">Examples with their masks</a></p>' if (folder.path / SAMPLES).exists() else "",
        _render_figures(folder.read_figures()),
        f'<div class="curves">{"".join(_draw_metrics(metrics))}</div>',
        _render_cost(metrics, folder.seconds, cost),
        _render_origin(origin),
    ]
    page = render_document(f"{origin.recipe}: training", parts, refresh=0 if folder.is_finished else REFRESH)
    replace_file(folder.path / REPORT, page.encode())


def _render_figures(figures: Mapping[str, float]) -> str:
    if not figures:
        return ""
    return "<h2>Figures</h2>" + render_table(["figure", "value"], [[name, format_number(v)] for name, v in figures.items()])


def _draw_metrics(metrics: Sequence[StepMetrics]) -> list[str]:
    """Draw each logged value over the steps. Names with a slash share a plot: `format/64k` and `format/128k`."""
    names = dict.fromkeys(name for each in metrics for name in each.values if name not in NOT_DRAWN)
    plots = dict.fromkeys(name.partition("/")[0] for name in names)
    return [_draw_plot(plot, [n for n in names if n.partition("/")[0] == plot], metrics) for plot in plots]


def _draw_plot(plot: str, names: Sequence[str], metrics: Sequence[StepMetrics]) -> str:
    curves = {name: [(float(e.step), e.values[name]) for e in metrics if name in e.values] for name in names}
    return f"<figure>{draw_curves(plot, curves, ('step', plot))}</figure>"


def _render_cost(metrics: Sequence[StepMetrics], seconds: float, cost: CostSection) -> str:
    """Show device-hours and their price (as DeepRubric's Table 3 and MindDR 6.3 count them), and tokens where they are logged."""
    hours = seconds / SECONDS_AN_HOUR * cost.devices
    told = [["devices", str(cost.devices)], ["device-hours", f"{hours:.4f}"], ["US$", f"{hours * cost.dollars_per_hour:.2f}"]]
    seen = [each.values["num_tokens"] for each in metrics if "num_tokens" in each.values]
    return "<h2>Cost</h2>" + render_table(["", ""], [*told, *([["tokens", f"{max(seen):,.0f}"]] if seen else [])])


def _render_origin(origin: TrainingOrigin) -> str:
    told = [
        *([f"{section}: {name}", str(value)] for section, values in origin.config.items() for name, value in _list_pairs(values)),
        *([f"data: {name}", digest] for name, digest in origin.data.items()),
        *([f"base: {name}", digest] for name, digest in origin.base.items()),
        *([name, version] for name, version in origin.packages.items()),
        ["code", origin.code],
        ["device", origin.device],
        ["began", origin.started_at.isoformat(timespec="seconds")],
    ]
    return "<h2>Made with</h2>" + render_table(["", ""], told)


def _list_pairs(values: object) -> list[tuple[str, object]]:
    return list(values.items()) if isinstance(values, Mapping) else [("", values)]
