"""An HTML page of one system under several limits: its main figure over limits of tool calls and context (MindDR Fig. 9)."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from app.domain.errors import Conflict
from training.evaluation.harness.caps import NO_CAPS
from training.evaluation.harness.comparing import require_comparable
from training.evaluation.harness.example import AnyBenchmark
from training.evaluation.harness.figures import Told, mean_of, told
from training.evaluation.harness.manifest import Manifest
from training.evaluation.harness.markup import document, interval_text, number, table
from training.evaluation.harness.module_counts import CALLS, CONTEXT
from training.evaluation.harness.page import RunRecord
from training.evaluation.harness.plots import line
from training.evaluation.preference_metrics import Interval

KINDS = (("tool calls", "calls"), ("tokens of context", "context"))
HEAD = ["call limit", "context limit", "value", "95% interval", "items", "tool calls", "longest context"]


def require_one_system(manifests: Sequence[Manifest]) -> None:
    """Require the same system on the same items, judged in the same way, under different limits.

    Raises:
        Conflict: the runs differ in anything else, or two have the same limits.
    """
    for first, second in pairwise(manifests):
        require_comparable(first, second)
        if first.items != second.items or _without_caps(first) != _without_caps(second):
            raise Conflict("these runs are of different systems, models, corpora or items; limits are measured on one")
    caps = [manifest.system.caps for manifest in manifests]
    if len(set(caps)) != len(caps):
        raise Conflict("two of these runs have the same limits")


def limits_page(records: Sequence[RunRecord], benchmark: AnyBenchmark) -> str:
    """Render the whole page; runs are in the order of their limits."""
    ordered = sorted(records, key=lambda record: (record.manifest.system.caps.calls, record.manifest.system.caps.context))
    mains = [main_figure(record, benchmark) for record in ordered]
    name = mains[0].name
    title = f"{benchmark.name}: {ordered[0].manifest.system.name} within limits"
    plots = [_plot(name, ordered, mains, label, field) for label, field in KINDS]
    rows = [_row(record, main) for record, main in zip(ordered, mains, strict=True)]
    about = f"<p>{escape(name)} of the same items in each run, with percentile bootstrap intervals.</p>"
    return document(
        title, [f"<h1>{escape(title)}</h1>", about, table(HEAD, rows), *(f"<figure>{p}</figure>" for p in plots if p)]
    )


def main_figure(record: RunRecord, benchmark: AnyBenchmark) -> Told:
    """Estimate the benchmark's first figure over a run."""
    name, figure = next(iter(benchmark.figures.items()))
    return told({name: figure}, record.scored, record.manifest.seed)[0]


def _plot(name: str, records: Sequence[RunRecord], mains: Sequence[Told], label: str, field: str) -> str:
    """Draw the runs that have this limit alone; empty where fewer than two have."""
    points: list[tuple[int, Interval]] = []
    for record, main in zip(records, mains, strict=True):
        caps = record.manifest.system.caps.model_dump()
        limit = caps.pop(field)
        if limit and not any(caps.values()) and isinstance(main.interval, Interval):
            points.append((limit, main.interval))
    return line(f"{name} under a limit of {label}", points, (label, name)) if len(points) > 1 else ""


def _row(record: RunRecord, main: Told) -> list[str]:
    caps = record.manifest.system.caps
    value = number(main.interval.value) if isinstance(main.interval, Interval) else "–"
    used = [mean_of(name).over(record.scored) for name in (CALLS, CONTEXT)]
    limits = [str(caps.calls or "–"), str(caps.context or "–")]
    return [*limits, value, interval_text(main.interval), str(main.items), *map(number, used)]


def _without_caps(manifest: Manifest) -> object:
    return manifest.system.model_copy(update={"caps": NO_CAPS})
