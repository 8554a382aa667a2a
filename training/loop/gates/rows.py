"""The rows of a gate's table: what each proof and each alarm shows."""

from enum import StrEnum
from math import ceil, log, log1p
from statistics import NormalDist

from app.domain.value import Value
from training.evaluation.intervals import Interval
from training.loop.gates.bootstrap import NO_SPREAD, Resampling, estimate_gain, measure_spread
from training.loop.gates.plan import GatePlan, Proof
from training.loop.gates.scores import MetricScores

FEWEST = 20
"""The fewest queries from which anything is concluded: with fewer the bootstrap errs too often."""
ALARM = "alarm"


class GateVerdict(StrEnum):
    """What a row or a gate says."""

    PASSED = "passed"
    REFUSED = "refused"
    NOT_KNOWN = "not known"


class GateRow(Value):
    """One metric: means over queries, the change with its interval (shares of the value before, if `relative`), the verdict.

    `margin` is what may be lost (of a probe: gained); None for an alarm. `queries_needed` are those with which the proof is
    planned to succeed, at the variance seen; None where there are too few to tell, and for an alarm.
    """

    metric: str
    kind: str
    queries: int
    verdict: GateVerdict
    reason: str
    before: float | None = None
    after: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    relative: bool = False
    margin: float | None = None
    queries_needed: int | None = None


def judge_proof(proof: Proof, scores: MetricScores | None, plan: GatePlan) -> GateRow:
    """Judge whether a proof holds: the lower end of the gain's interval has to be above -margin.

    What is not shown is not known while the queries are fewer than planned for, and refused with as many: else one could go on
    until it is shown by chance.
    """
    n = 0 if scores is None else len(scores.before)
    head = GateRow(
        metric=proof.metric, kind=proof.kind, queries=n, margin=proof.margin, relative=proof.relative,
        verdict=GateVerdict.NOT_KNOWN, reason="",
    )  # fmt: skip
    if scores is None or n < FEWEST:
        return _tell(head, f"{max(0, FEWEST - n)} more queries are needed to tell anything")
    if proof.relative and scores.before.mean() <= 0:
        return _tell(head, "the value before is not above 0, so no share of it can be told")
    gain = estimate_gain(scores, _sign_of(proof.lower_is_better), proof.relative, plan.level, _resampling_of(plan))
    spread = measure_spread(scores, proof.relative)
    needed = count_needed(proof, spread, plan)
    row = _fill(head, scores, gain, _sign_of(proof.lower_is_better)).model_copy(update={"queries_needed": needed})
    if scores.missing:
        return _tell(row, f"{scores.missing} items have no score")
    return _judge_gain(row, gain.low > -proof.margin and (spread > NO_SPREAD or n >= needed), gain.high < -proof.margin, needed)


def _judge_gain(row: GateRow, holds: bool, fails: bool, needed: int) -> GateRow:
    if holds:
        return _tell(row, "shown", GateVerdict.PASSED)
    if fails:
        return _tell(row, "the opposite is shown", GateVerdict.REFUSED)
    if row.queries >= needed:
        return _tell(row, "not shown, with as many queries as it takes", GateVerdict.REFUSED)
    return _tell(row, f"{needed - row.queries} more queries are needed")


def judge_alarm(metric: str, scores: MetricScores, plan: GatePlan, alarms: int) -> GateRow:
    """Judge whether one of so many alarms is raised: the whole interval shows harm. All alarms together share the level."""
    n = len(scores.before)
    head = GateRow(metric=metric, kind=ALARM, queries=n, verdict=GateVerdict.PASSED, reason="")
    if n < FEWEST:
        return _tell(head, "too few queries to show harm", GateVerdict.PASSED)
    sign = _sign_of(plan.wants_lower(metric))
    gain = estimate_gain(scores, sign, False, plan.level / alarms, _resampling_of(plan))
    row = _fill(head, scores, gain, sign)
    return _tell(row, "harm is shown", GateVerdict.REFUSED) if gain.high < 0 else _tell(row, "no harm shown", GateVerdict.PASSED)


def count_needed(proof: Proof, spread: float, plan: GatePlan) -> int:
    """Count the queries with which this proof succeeds as often as planned, if the true gain is the expected one.

    All proofs have to succeed, so each may fail with an equal part of 1 - power; half of that is kept for scores that are not
    normal. Where no query differs from the others, a rare loss of a whole point per query would have been seen once among
    log(level) / log(1 - margin) queries (the rule of three).
    """
    if spread <= NO_SPREAD:
        return max(FEWEST, ceil(log(plan.level) / log1p(-proof.margin))) if proof.margin else FEWEST
    failing = (1 - plan.power) / 2 / len(plan.list_proofs())
    normal, distance = NormalDist(), proof.margin + proof.expected
    return max(FEWEST, ceil(((normal.inv_cdf(1 - plan.level) + normal.inv_cdf(1 - failing)) * spread / distance) ** 2))


def _sign_of(lower_is_better: bool) -> int:
    return -1 if lower_is_better else 1


def _resampling_of(plan: GatePlan) -> Resampling:
    return Resampling(plan.resamples, plan.seed)


def _tell(row: GateRow, reason: str, verdict: GateVerdict = GateVerdict.NOT_KNOWN) -> GateRow:
    return row.model_copy(update={"reason": reason, "verdict": verdict})


def _fill(row: GateRow, scores: MetricScores, gain: Interval, sign: int) -> GateRow:
    """Fill in the change as it was measured: a gain of a metric of which less is better is a negative difference."""
    low, high = sorted((sign * gain.low, sign * gain.high))
    means = {"before": float(scores.before.mean()), "after": float(scores.after.mean())}
    return row.model_copy(update={**means, "difference": sign * gain.value, "low": low, "high": high})
