"""The model card of a version, made from the registry: Markdown under the YAML head that Hugging Face reads."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from app.domain.model_versions import ErasurePolicy, Evaluation, EvaluationKind, ModelVersion
from app.models.service.figures import FigureTable, format_value, list_weaknesses, tabulate
from app.models.service.registry import VersionDetail
from app.reports.rendering.links import escape_markdown as escape

KNOWN_LICENCE = re.compile(r"[a-z0-9.-]+")
CURVES = "curves"
POLICIES = {
    ErasurePolicy.KEEP: "stays as it is, and this card says how many of its rows were erased",
    ErasurePolicy.RETRAIN: "is trained again without them by the next cycle",
    ErasurePolicy.WITHDRAW: "is withdrawn, and the model before it serves again (where there is none, once another is promoted)",
}


def render_card(detail: VersionDetail) -> str:
    """Render the card: origin, data with consents, curves and figures, gates, weaknesses, licence, erasure, history."""
    version = detail.version
    parts = (
        _render_head(version),
        f"# {version.name}\n\n{_describe(version)}",
        _render_data(detail),
        *_render_training(detail.evaluations),
        *_render_measured(detail.evaluations, EvaluationKind.GATE, "Gates"),
        *_render_measured(detail.evaluations, EvaluationKind.EVALUATION, "Evaluations"),
        *_render_measured(detail.evaluations, EvaluationKind.CANARY, "Canaries"),
        _render_weaknesses(detail.evaluations),
        _render_licence(version),
        _render_erasure(detail),
        _render_history(detail),
    )
    return "\n\n".join(parts) + "\n"


def read_curves(evaluations: Sequence[Evaluation]) -> dict[str, list[tuple[float, float]]]:
    """Return the curves of the run that made a version, as points of step and value."""
    told = [each.figures.get(CURVES, {}) for each in evaluations if each.kind is EvaluationKind.TRAINING]
    return {name: [(float(step), float(value)) for step, value in points] for curves in told for name, points in curves.items()}


def _render_head(version: ModelVersion) -> str:
    licence: dict[str, Any] = {"license": version.licence} if KNOWN_LICENCE.fullmatch(version.licence) else {"license": "other"}
    if version.licence and licence["license"] == "other":
        licence["license_name"] = version.licence
    told = {
        "library_name": "peft",
        "base_model": version.base.partition("@")[0],
        **licence,
        "tags": ["rubrica", version.role.value, *([version.recipe] if version.recipe else [])],
    }
    # JSON is YAML, and quotes what a name may contain.
    lines = "\n".join(f"{name}: {json.dumps(value)}" for name, value in told.items())
    return f"---\n{lines}\n---"


def _describe(version: ModelVersion) -> str:
    made = f" by the recipe {escape(version.recipe)}" if version.recipe else ""
    built = f", code {escape(version.build)}" if version.build else ""
    return (
        f"Version {version.number} of the model for the {' and the '.join(version.roles)}, "
        f"trained{made} on {escape(version.base)}{built}. "
        f"It answers in {version.notation}. State: {version.state}. Added {version.created_at:%Y-%m-%d}. "
        f"Artifact: SHA-256 `{version.artifact}`."
    )


def _render_data(detail: VersionDetail) -> str:
    if not detail.version.sets:
        return "## Data\n\nNothing is known of what it learned from."
    rows = tuple(
        (each.kind, f"{each.rows}", f"{each.consents_at:%Y-%m-%d %H:%M} UTC" if each.consents_at else "–", each.digest)
        for each in detail.version.sets
    )
    table = FigureTable("", ("set", "rows", "consents looked up", "manifest (SHA-256)"), rows)
    return f"## Data\n\n{_render_table(table)}\n\n{_tell_judgements(detail)}"


def _tell_judgements(detail: VersionDetail) -> str:
    """Tell of how many judgements it learned, and how many of these were erased since, and when."""
    erased = [each for each in detail.evaluations if each.kind is EvaluationKind.ERASURE]
    learned = detail.pairs + sum(each.figures["rows"] for each in erased)
    if not learned:
        return "It learned from no judgement of a reader."
    counted = "1 judgement of a reader" if learned == 1 else f"{learned} judgements of readers"
    told = f"It learned from {counted} (its rows for training and for validation)"
    if not erased:
        return f"{told}, each with the consent of reader, asker and organisation."
    parts = " and ".join(f"{each.figures['rows']} {_were(each.figures['rows'])} erased on {each.at:%Y-%m-%d}" for each in erased)
    return f"{told}, of which {parts}; each of the others has the consent of reader, asker and organisation."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _render_training(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    curves = read_curves(evaluations)
    if curves:
        rows = tuple(
            (name, *map(format_value, (points[0][1], points[-1][1], min(v for _, v in points), max(v for _, v in points))))
            for name, points in curves.items()
            if points
        )
        yield "## Training\n\n" + _render_table(FigureTable("", ("curve", "first", "last", "least", "most"), rows))
    for each in evaluations:
        if each.kind is EvaluationKind.TRAINING:
            yield from _render_tables({name: value for name, value in each.figures.items() if name != CURVES})


def _render_measured(evaluations: Sequence[Evaluation], kind: EvaluationKind, heading: str) -> Iterator[str]:
    found = [each for each in evaluations if each.kind is kind]
    if found:
        yield f"## {heading}"
    for each in found:
        yield f"Measured {each.at:%Y-%m-%d %H:%M} UTC."
        yield from _render_tables(each.figures)


def _render_weaknesses(evaluations: Sequence[Evaluation]) -> str:
    kinds = (EvaluationKind.GATE, EvaluationKind.EVALUATION, EvaluationKind.CANARY)
    found = dict.fromkeys(told for each in evaluations if each.kind in kinds for told in list_weaknesses(each.figures))
    lines = "\n".join(f"- {escape(each)}" for each in found) or "None was measured, which does not say that there is none."
    return f"## Known weaknesses\n\n{lines}"


def _render_licence(version: ModelVersion) -> str:
    told = f"The base {escape(version.base)} has the licence {escape(version.licence)}" if version.licence else ""
    return (
        f"## Licence\n\n{told or f'The licence of the base {escape(version.base)} was not told'}; it holds for this version too."
    )


def _render_erasure(detail: VersionDetail) -> str:
    policy = f"Where rows that it learned from are erased or no longer agreed to, it {POLICIES[detail.version.on_erasure]}."
    erased = [each for each in detail.evaluations if each.kind is EvaluationKind.ERASURE]
    lines = "".join(f"\n- {each.at:%Y-%m-%d}: {_tell_erased(each.figures)}" for each in erased)
    return f"## Erasure\n\n{policy}{chr(10) if lines else ''}{lines}"


def _tell_erased(figures: dict[str, Any]) -> str:
    return escape(f"{figures['rows']} of {figures['learned']} judgements {_were(figures['rows'])} erased; {figures['done']}")


def _render_history(detail: VersionDetail) -> str:
    rows = tuple((f"{each.at:%Y-%m-%d %H:%M} UTC", each.state.value, each.why) for each in detail.changes)
    names = " → ".join(each.name for each in detail.lineage)
    return f"## History\n\n{_render_table(FigureTable('', ('when', 'state', 'why'), rows))}\n\nLineage: {names}."


def _render_tables(figures: dict[str, Any]) -> Iterator[str]:
    for table in tabulate(figures):
        yield (f"### {escape(table.title)}\n\n" if table.title else "") + _render_table(table)


def _render_table(table: FigureTable) -> str:
    head = (table.head, ("---",) * len(table.head))
    rows = [tuple(map(escape, row)) for row in (table.head, *table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], head[1], *rows[1:]))
