"""The report of a set as one HTML page without scripts: what is in it, what fell out and why, what it cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from statistics import fmean

from app.domain.split import Split
from training.pages.markup import format_number, render_document, render_table
from training.pages.plots import draw_bars, draw_histogram
from training.synthesis.training_set.manifest import TrainingSetManifest
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate

MICRO = 1_000_000
EXTRAPOLATED = 9_000
FEWEST_POINTS = 3
SHOWN, SHOWN_CHARS = 12, 400
Rows = Mapping[Split, Mapping[str, KeptRow]]


def render_report(manifest: TrainingSetManifest, rows: Rows, refused: Mapping[str, RefusedCandidate], shown: str = "") -> str:
    """Render the page. `shown` is a part of the kind's own, as HTML."""
    every = [row for found in rows.values() for row in found.values()]
    parts = [
        f"<h1>{escape(manifest.origin.kind)}</h1>",
        f"<p>{len(every)} rows of {manifest.candidates} candidates.</p>",
        *(f"<p><strong>{escape(notice)}</strong></p>" for notice in manifest.notices),
        _render_counts(manifest, rows),
        _render_shares(manifest),
        _render_yield(manifest, refused),
        _render_figures(manifest),
        *_draw_counts(every),
        shown,
        _render_cost(manifest, len(every)),
        _render_origin(manifest),
        _render_examples(every),
    ]
    return render_document(f"{manifest.origin.kind}: {len(every)} rows", parts)


def _render_counts(manifest: TrainingSetManifest, rows: Rows) -> str:
    topics = Counter(row.topic for found in rows.values() for row in found.values())
    table = [
        [topic, *(str(sum(row.topic == topic for row in rows[split].values())) for split in Split), str(count)]
        for topic, count in topics.most_common()
    ]
    totals = [str(manifest.rows[split]) for split in Split]
    table.append(["all", *totals, str(sum(manifest.rows.values()))])
    return "<h2>Rows</h2>" + render_table(["topic", *Split, "all"], table)


def _render_shares(manifest: TrainingSetManifest) -> str:
    if not manifest.shares:
        return ""
    table = [
        [mixture, name, f"{share.asked:.0%}", f"{share.reached:.0%}", str(share.rows)]
        for mixture, classes in manifest.shares.items()
        for name, share in classes.items()
    ]
    return "<h2>Shares</h2>" + render_table(["of", "class", "asked", "reached", "rows"], table)


def _render_yield(manifest: TrainingSetManifest, refused: Mapping[str, RefusedCandidate]) -> str:
    if not refused:
        return "<h2>What fell out</h2><p>Nothing.</p>"
    bars = draw_bars(
        "candidates that fell out, by stage", {stage: float(n) for stage, n in manifest.refused.items()}, "candidates"
    )
    reasons = Counter((each.stage, each.reason[:SHOWN_CHARS]) for each in refused.values()).most_common(SHOWN)
    table = [[stage, reason, str(count)] for (stage, reason), count in reasons]
    known = "".join(f"<p>{escape(name)} has {count} of them already.</p>" for name, count in manifest.known.items())
    return "<h2>What fell out</h2>" + bars + known + render_table(["stage", "reason", "candidates"], table)


def _render_figures(manifest: TrainingSetManifest) -> str:
    if not manifest.figures:
        return ""
    return "<h2>Statistics</h2>" + render_table(
        ["figure", "value"], [[name, _format_figure(value)] for name, value in manifest.figures.items()]
    )


def _format_figure(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() else format_number(value)


def _draw_counts(rows: Sequence[KeptRow]) -> list[str]:
    """Draw how each count of the rows is spread."""
    names = dict.fromkeys(name for row in rows for name in row.counts)
    return [_draw_count(name, [row.counts[name] for row in rows if name in row.counts]) for name in names]


def _draw_count(name: str, values: Sequence[float]) -> str:
    if len(values) < FEWEST_POINTS:
        return ""
    return draw_histogram(f"{name}: {fmean(values):.2f} on average", values, name)


def _render_cost(manifest: TrainingSetManifest, rows: int) -> str:
    usage = manifest.usage
    dollars = usage.cost_microusd / MICRO
    told = [
        ["calls of models", str(usage.model_calls)],
        ["tokens read", str(usage.input_tokens)],
        ["tokens written", str(usage.output_tokens)],
        ["US$", f"{dollars:.4f}"],
    ]
    if rows:
        told.append([f"US$ for {EXTRAPOLATED:,} rows at this price", f"{dollars / rows * EXTRAPOLATED:.2f}"])
    return "<h2>Cost</h2>" + render_table(["", ""], told)


def _render_origin(manifest: TrainingSetManifest) -> str:
    origin = manifest.origin
    told = [
        *(
            [f"model: {role}", f"{used.name}, US$ {used.input_price} and {used.output_price} a million tokens"]
            for role, used in origin.models.items()
        ),
        *([f"corpus: {name}", generation] for name, generation in origin.corpora.items()),
        *([f"compared with: {name}", f"{count} texts"] for name, count in origin.against.items()),
        *([name, _show_setting(value)] for name, value in origin.settings.items()),
        ["near-duplicates are found by", manifest.near_duplicates_by],
        *([name, digest] for name, digest in origin.files.items()),
        *([["answers are in", origin.notation]] if origin.notation else []),
        ["rows wanted", str(origin.wanted)],
        *([["candidates at most", str(origin.most_candidates)]] if origin.most_candidates else []),
        ["seed", str(origin.seed)],
        ["code", origin.code],
        ["day", str(origin.today)],
        *([["consents looked up at", str(origin.consents_at)]] if origin.consents_at else []),
    ]
    return "<h2>Made with</h2>" + render_table(["", ""], told)


def _show_setting(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _render_examples(rows: Sequence[KeptRow]) -> str:
    shown = [[row.topic, row.query[:SHOWN_CHARS]] for row in rows[:SHOWN]]
    return f"<h2>The first {len(shown)} rows</h2>" + render_table(["topic", "query"], shown)
