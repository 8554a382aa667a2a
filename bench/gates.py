"""What a gate promotes: candidates without effect, candidates that lose one proof by its margin, and good ones.

    python -m bench.gates

Scores are drawn from invented held-out sets of 20,000 queries: several answers to a query, which hang together; changes of few
answers; skewed shares of support; costs that differ a hundredfold. Each metric has as many queries as its proof is planned to
need. `false_promotions` is the larger share of 1,000 candidates without effect and of 1,000 that win the superiority and lose
one other proof by exactly its margin (each in turn); `power` is the share of 1,000 with the stated gain that lose nothing.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np

from bench.result import print_result
from training.loop.gates.bootstrap import measure_spread
from training.loop.gates.plan import COST, PROBE, PROBES, GatePlan, Superiority
from training.loop.gates.rows import count_needed
from training.loop.gates.scores import MetricScores, Values
from training.loop.gates.simulation import Truth, draw_candidates, is_promoted

CANDIDATES, QUERIES = 1_000, 20_000
PLAN = GatePlan(
    stated=datetime(2026, 11, 1, tzinfo=UTC),
    cycle_starts=datetime(2026, 11, 2, tzinfo=UTC),
    gate_judge="one judge",
    reward_judge="another",
    set_maker="a third",
    superiority=Superiority(metric="report_quality", gain=0.04),
)


def answer_anew(draws: np.random.Generator, items: int, redrawn: float) -> MetricScores:
    """Invent shares of right answers of queries that differ in difficulty; so large a share of all answers is given anew."""
    difficulty = draws.beta(6, 3, size=(QUERIES, 1))
    before, new = (draws.random((QUERIES, items)) < difficulty for _ in range(2))
    after = np.where(draws.random((QUERIES, items)) < redrawn, new, before)
    return MetricScores(before.mean(axis=1), after.mean(axis=1))


def invent_sets(draws: np.random.Generator) -> dict[str, MetricScores]:
    """Invent the scores of each metric, before and after, for a candidate that changes nothing in the mean."""
    quality: Values = draws.beta(5, 3, QUERIES)
    support: Values = draws.beta(9, 1, QUERIES)
    cost: Values = draws.lognormal(-1, 1, QUERIES)
    probes: Values = draws.normal(-0.2, 0.1, QUERIES)
    return {
        "report_quality": MetricScores(quality, quality + draws.normal(0, 0.2, QUERIES)),
        "preference_accuracy": answer_anew(draws, 8, 0.2),
        "search_accuracy": answer_anew(draws, 4, 0.15),
        "citation_support": MetricScores(support, np.where(draws.random(QUERIES) < 0.5, draws.beta(9, 1, QUERIES), support)),
        COST: MetricScores(cost, cost * draws.lognormal(0, 0.4, QUERIES)),
        **{PROBE + probe: MetricScores(probes, probes + 0.06 * draws.standard_t(4, QUERIES)) for probe in PROBES},
    }


def share_promoted(sets: dict[str, MetricScores], queries: dict[str, int], truths: Iterable[Truth], seed: int) -> float:
    """Return the share of candidates, one for each truth, that are promoted."""
    draws = np.random.default_rng(seed)
    promoted = [is_promoted(PLAN, next(draw_candidates(PLAN, sets, queries, truth, draws))) for truth in truths]
    return sum(promoted) / len(promoted)


def main() -> None:
    sets = invent_sets(np.random.default_rng(0))
    first, *others = PLAN.list_proofs()
    queries = {
        proof.metric: count_needed(proof, measure_spread(sets[proof.metric], proof.relative), PLAN) for proof in (first, *others)
    }
    gain = {first.metric: first.expected}
    losing = [{**gain, proof.metric: -proof.margin} for proof in others]
    shares = {
        "without effect": share_promoted(sets, queries, [{}] * CANDIDATES, 1),
        "losing one proof": share_promoted(sets, queries, [losing[n % len(losing)] for n in range(CANDIDATES)], 2),
        "with the stated gain": share_promoted(sets, queries, [gain] * CANDIDATES, 3),
    }
    print("queries:", ", ".join(f"{metric} {n}" for metric, n in queries.items()))
    print("promoted:", ", ".join(f"{share:.1%} {kind}" for kind, share in shares.items()))
    without, one_lost, power = shares.values()
    print_result("gates", {"false_promotions": max(without, one_lost), "power": power})


if __name__ == "__main__":
    main()
