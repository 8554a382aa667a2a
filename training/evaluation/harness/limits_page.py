"""An HTML page of one system under several limits: its main figure over limits of tool calls and context (MindDR Fig. 9)."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from app.domain.errors import Conflict
from training.evaluation.harness.caps import NO_CAPS
from training.evaluation.harness.comparison import require_comparable
from training.evaluation.harness.example import AnyBenchmark
from training.evaluation.harness.figures import FigureEstimate, estimate_figures, mean_of
from training.evaluation.harness.manifest import RunManifest
from training.evaluation.harness.module_counts import CALLS, CONTEXT
from training.evaluation.harness.run_page import RunRecord
from training.evaluation.intervals import Interval
from training.pages.markup import format_interval, format_number, render_document, render_table
from training.pages.plots import draw_line

KINDS = (("tool calls", "calls"), ("tokens of context", "context"))
HEAD = ["call limit", "context limit", "value", "95% interval", "items", "tool calls", "longest context"]


def require_one_system(manifests: Sequence[RunManifest]) -> None:
    """Require the same system on the same items, judged in the same way, under different limits.

    Raises:
        Conflict: the runs differ in anything else, or two have the same limits.
    """
    for first, second in pairwise(manifests):
        require_comparable(first, second)
        if first.items != second.items or _drop_caps(first) != _drop_caps(second):
            raise Conflict("these runs are of different systems, models, corpora or items; limits are measured on one")
    caps = [manifest.system.caps for manifest in manifests]
    if len(set(caps)) != len(caps):
        raise Conflict("two of these runs have the same limits")


def render_limits_page(records: Sequence[RunRecord], benchmark: AnyBenchmark) -> str:
    """Render the whole page; runs are in the order of their limits."""
    ordered = sorted(records, key=lambda record: (record.manifest.system.caps.calls, record.manifest.system.caps.context))
    mains = [estimate_main_figure(record, benchmark) for record in ordered]
    name = mains[0].name
    title = f"{benchmark.name}: {ordered[0].manifest.system.name} within limits"
    plots = [_draw_plot(name, ordered, mains, label, field) for label, field in KINDS]
    rows = [_row_of(record, main) for record, main in zip(ordered, mains, strict=True)]
    about = f"<p>{escape(name)} of the same items in each run, with 95% intervals.</p>"
    return render_document(
        title, [f"<h1>{escape(title)}</h1>", about, render_table(HEAD, rows), *(f"<figure>{p}</figure>" for p in plots if p)]
    )


def estimate_main_figure(record: RunRecord, benchmark: AnyBenchmark) -> FigureEstimate:
    """Estimate the benchmark's first figure over a run."""
    name, figure = next(iter(benchmark.figures.items()))
    return estimate_figures({name: figure}, record.scored)[0]


def _draw_plot(name: str, records: Sequence[RunRecord], mains: Sequence[FigureEstimate], label: str, field: str) -> str:
    """Draw the runs that have this limit alone; empty where fewer than two have."""
    points: list[tuple[int, Interval]] = []
    for record, main in zip(records, mains, strict=True):
        caps = record.manifest.system.caps.model_dump()
        limit = caps.pop(field)
        if limit and not any(caps.values()) and isinstance(main.interval, Interval):
            points.append((limit, main.interval))
    return draw_line(f"{name} under a limit of {label}", points, (label, name)) if len(points) > 1 else ""


def _row_of(record: RunRecord, main: FigureEstimate) -> list[str]:
    caps = record.manifest.system.caps
    used = [mean_of(name).compute(record.scored) for name in (CALLS, CONTEXT)]
    limits = [str(caps.calls or "–"), str(caps.context or "–")]
    return [*limits, format_number(main.value), format_interval(main.interval), str(main.items), *map(format_number, used)]


def _drop_caps(manifest: RunManifest) -> object:
    return manifest.system.model_copy(update={"caps": NO_CAPS})
