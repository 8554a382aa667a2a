"""The bootstrap over queries: known intervals, and how often it errs where a loss is exactly the margin."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from training.loop.gates.bootstrap import Resampling, estimate_gain, measure_spread
from training.loop.gates.scores import ItemScore, MetricScores, group_scores

HOW = Resampling(2_000, 0)


def count_errors(draw: Callable[[np.random.Generator], MetricScores], truth: float, sides: int = 2_000) -> tuple[float, float]:
    """Return how often the interval lies wholly above the true gain, and how often wholly below."""
    draws = np.random.default_rng(11)
    found = [estimate_gain(draw(draws), 1, False, 0.05, HOW) for _ in range(sides)]
    return sum(one.low > truth for one in found) / sides, sum(one.high < truth for one in found) / sides


def test_the_interval_of_many_queries_is_the_normal_one() -> None:
    before = np.zeros(2_000)
    after = np.random.default_rng(1).normal(0.1, 0.5, 2_000)
    found = estimate_gain(MetricScores(before, after), 1, False, 0.05, HOW)
    half = 1.645 * after.std() / math.sqrt(2_000)
    assert found.value == pytest.approx(after.mean())
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half), abs=0.1 * half)


def test_less_is_more_where_less_is_better() -> None:
    scores = MetricScores(np.full(50, 2.0), np.linspace(1.4, 1.8, 50))
    absolute, relative = (estimate_gain(scores, -1, share, 0.05, HOW) for share in (False, True))
    assert absolute.value == pytest.approx(0.4)
    assert relative.value == pytest.approx(0.2)
    assert (relative.low, relative.high) == pytest.approx((absolute.low / 2, absolute.high / 2))


def test_the_same_seed_gives_the_same_interval() -> None:
    scores = MetricScores(np.zeros(40), np.linspace(-1, 2, 40))
    one, other = (estimate_gain(scores, 1, False, 0.05, Resampling(2_000, seed)) for seed in (0, 1))
    assert one == estimate_gain(scores, 1, False, 0.05, HOW)
    assert one != other


def test_items_of_one_query_move_together() -> None:
    """Fifty items of a query tell no more than one: the interval is that of the queries."""
    changes = np.linspace(-0.3, 0.5, 30)

    def score(items: int) -> MetricScores:
        rows = [
            ItemScore(metric="m", query=str(query), item=f"{query}/{item}", before=0.2, after=0.2 + change)
            for query, change in enumerate(changes)
            for item in range(items)
        ]
        return group_scores(rows)["m"]

    one, many = (estimate_gain(score(items), 1, False, 0.05, HOW) for items in (1, 50))
    assert (many.low, many.high) == pytest.approx((one.low, one.high))


@pytest.mark.parametrize("queries", [20, 60, 300])
def test_normal_changes_are_covered(queries: int) -> None:
    above, below = count_errors(lambda d: MetricScores(np.zeros(queries), d.normal(0.3, 1, queries)), 0.3)
    limit = 0.05 + 2 * math.sqrt(0.05 * 0.95 / 2_000)
    assert above <= limit
    assert below <= limit
    assert above + below > 0.03


@pytest.mark.parametrize("queries", [150, 400])
def test_a_rare_loss_of_exactly_the_margin_is_seldom_missed(queries: int) -> None:
    """Two queries of a hundred lose all, the others nothing: of 400 queries, plain percentiles let a tenth of such sets pass."""
    above, _ = count_errors(lambda d: MetricScores(np.ones(queries), (d.random(queries) >= 0.02).astype(float)), -0.02)
    assert above <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 2_000)


def test_few_queries_with_a_strong_skew_err_more_often_as_the_docs_say() -> None:
    above, below = count_errors(lambda d: MetricScores(np.zeros(40), -d.lognormal(0, 1, 40)), -math.exp(0.5))
    assert 0.08 < above < 0.14
    assert below < 0.08


def test_a_share_of_a_skewed_cost_is_covered() -> None:
    def draw(draws: np.random.Generator) -> MetricScores:
        cost = draws.lognormal(0, 1, 200)
        return MetricScores(cost, cost * draws.lognormal(math.log(1.1) - 0.08, 0.4, 200))

    draws = np.random.default_rng(5)
    found = [estimate_gain(draw(draws), -1, True, 0.05, HOW) for _ in range(600)]
    assert sum(one.low > -0.1 for one in found) / 600 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 600)


def test_the_spread_of_a_share_is_that_of_its_residuals() -> None:
    before = np.array([1.0, 2, 3, 4] * 30)
    noise = np.tile([0.1, -0.1], 60)
    spread = measure_spread(MetricScores(before, 2 * before + noise), True)
    assert spread == pytest.approx(noise.std() / before.mean(), rel=0.02)
