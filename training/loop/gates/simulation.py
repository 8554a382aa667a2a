"""Candidates of known merit, drawn from the scores there are: how often a gate of this plan promotes them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from training.loop.gates.plan import GatePlan, Proof
from training.loop.gates.rows import GateVerdict, judge_proof
from training.loop.gates.scores import MetricScores

Truth = Mapping[str, float]
"""The true gain of each metric; 0 where it is not named. A gain of a metric of which less is better lowers it."""


@dataclass(frozen=True, slots=True)
class Promotions:
    """The shares of candidates that are promoted.

    `power` is that of candidates with the stated gain which lose nothing, `without_effect` that of candidates which change
    nothing. `at_margin` is, by metric, that of candidates with the stated gain which lose as much as its margin.
    """

    power: float
    without_effect: float
    at_margin: dict[str, float]


def simulate_promotions(
    plan: GatePlan, seen: Mapping[str, MetricScores], queries: Mapping[str, int], candidates: int
) -> Promotions:
    """Return how often candidates are promoted with so many queries of each metric.

    A candidate's queries are drawn from those seen, with the change of each that is not the mean change: the noise is the seen
    one, the truth is chosen. Metrics are drawn by themselves.
    """
    proofs = plan.list_proofs()
    gains = {proofs[0].metric: proofs[0].expected}
    losing = {proof.metric: {**gains, proof.metric: -proof.margin} for proof in proofs[1:] if proof.metric not in gains}

    def share(truth: Truth, number: int) -> float:
        drawn = draw_candidates(plan, seen, queries, truth, np.random.default_rng([plan.seed, number]))
        return sum(is_promoted(plan, next(drawn)) for _ in range(candidates)) / candidates

    at_margin = {metric: share(truth, 2 + number) for number, (metric, truth) in enumerate(losing.items())}
    return Promotions(share(gains, 0), share({}, 1), at_margin)


def draw_candidates(
    plan: GatePlan, seen: Mapping[str, MetricScores], queries: Mapping[str, int], truth: Truth, draws: np.random.Generator
) -> Iterator[dict[str, MetricScores]]:
    """Yield the scores of candidates whose true gains are these."""
    while True:
        yield {
            proof.metric: _draw_scores(proof, seen[proof.metric], queries[proof.metric], truth.get(proof.metric, 0.0), draws)
            for proof in plan.list_proofs()
            if proof.metric in seen
        }


def is_promoted(plan: GatePlan, scores: dict[str, MetricScores]) -> bool:
    """Tell whether a gate of this plan passes these scores, which have no metric beside those of its proofs."""
    verdicts = (judge_proof(proof, scores.get(proof.metric), plan).verdict for proof in plan.list_proofs())
    return all(verdict is GateVerdict.PASSED for verdict in verdicts)


def _draw_scores(proof: Proof, seen: MetricScores, n: int, gain: float, draws: np.random.Generator) -> MetricScores:
    change = -gain if proof.lower_is_better else gain
    taken = draws.integers(len(seen.before), size=n)
    ratio = seen.after.mean() / seen.before.mean() if proof.relative else 1.0
    noise = seen.after - ratio * seen.before
    before = seen.before[taken]
    shift = change * before if proof.relative else change
    return MetricScores(before, before + shift + (noise - noise.mean())[taken])


def invent_scores(plan: GatePlan, spread: float) -> dict[str, MetricScores]:
    """Return normal scores whose changes have this standard deviation over queries (of the cost: as a share)."""
    draws = np.random.default_rng(plan.seed)
    before = np.full(2_000, 0.5)
    proofs = plan.list_proofs()
    scales = {proof.metric: 0.5 if proof.relative else 1.0 for proof in proofs}
    return {metric: MetricScores(before, before + scale * draws.normal(0, spread, 2_000)) for metric, scale in scales.items()}


def list_lacking(plan: GatePlan, seen: Mapping[str, MetricScores]) -> list[str]:
    """List the metrics of proofs that have fewer than two queries, so that nothing can be drawn from them."""
    return [proof.metric for proof in plan.list_proofs() if proof.metric not in seen or len(seen[proof.metric].before) < 2]
