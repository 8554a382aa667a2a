"""The decision of a gate: all proofs hold, no alarm is raised, and no held-out item was trained on."""

from collections.abc import Sequence

from app.domain.value import Value
from training.loop.gates.held_out import Leak, TrainedText, find_leaks
from training.loop.gates.plan import GatePlan
from training.loop.gates.rows import GateRow, GateVerdict, judge_alarm, judge_proof
from training.loop.gates.scores import ItemScore, MetricScores, group_scores

WORST = 10


class WorstItems(Value):
    """The items that lost most by a metric for which the gate refused, the worst first."""

    metric: str
    items: tuple[ItemScore, ...]


class GateDecision(Value):
    """A gate's verdict with its reasons. `leaks` is None where it was not told what the model was trained on."""

    verdict: GateVerdict
    reasons: tuple[str, ...]
    rows: tuple[GateRow, ...]
    leaks: tuple[Leak, ...] | None
    worst: tuple[WorstItems, ...]


def decide_gate(plan: GatePlan, scores: Sequence[ItemScore], trained: Sequence[TrainedText] | None = None) -> GateDecision:
    """Decide a gate over per-item scores.

    All proofs have to hold, so their levels need no correction (an intersection-union test: Berger, 1982): where one statement
    is false, the candidate is promoted at most as often as that one proof errs.
    """
    rows = judge_rows(plan, group_scores(scores))
    leaks = None if trained is None else tuple(find_leaks(scores, trained))
    refused = [row for row in rows if row.verdict is GateVerdict.REFUSED]
    leaking = [f"{len(leaks)} held-out items or queries are in the training set"] if leaks else []
    return GateDecision(
        verdict=GateVerdict.REFUSED if leaks else combine_verdicts(rows),
        reasons=(*leaking, *(f"{_name_proof(row)}: {row.reason}" for row in rows if row.verdict is not GateVerdict.PASSED)),
        rows=tuple(rows),
        leaks=leaks,
        worst=tuple(WorstItems(metric=metric, items=_list_worst(plan, scores, metric)) for metric in _names_of(refused)),
    )


def judge_rows(plan: GatePlan, scores: dict[str, MetricScores]) -> list[GateRow]:
    """Judge every proof, and every other metric as an alarm."""
    proofs = plan.list_proofs()
    alarms = sorted(scores.keys() - {proof.metric for proof in proofs})
    proven = [judge_proof(proof, scores.get(proof.metric), plan) for proof in proofs]
    return [*proven, *(judge_alarm(metric, scores[metric], plan, len(alarms)) for metric in alarms)]


def combine_verdicts(rows: Sequence[GateRow]) -> GateVerdict:
    """Return the verdict over all rows: one that refuses outweighs one that is not known, and that one all that passed."""
    verdicts = {row.verdict for row in rows}
    order = (GateVerdict.REFUSED, GateVerdict.NOT_KNOWN, GateVerdict.PASSED)
    return next(verdict for verdict in order if verdict in verdicts)


def _name_proof(row: GateRow) -> str:
    """Name a metric with what was to be shown of it, and within which margin."""
    margin = f", margin {f'{row.margin:.1%}' if row.relative else f'{row.margin:.4g}'}" if row.margin else ""
    return f"{row.metric} ({row.kind}{margin})"


def _names_of(rows: Sequence[GateRow]) -> list[str]:
    return list(dict.fromkeys(row.metric for row in rows))


def _list_worst(plan: GatePlan, scores: Sequence[ItemScore], metric: str) -> tuple[ItemScore, ...]:
    sign = -1 if plan.wants_lower(metric) else 1
    changes = [
        (sign * (score.after - score.before), score)
        for score in scores
        if score.metric == metric and score.before is not None and score.after is not None
    ]
    return tuple(score for _, score in sorted(changes, key=lambda each: each[0])[:WORST])
