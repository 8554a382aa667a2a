"""Our tests that may be read at any time against those of the package ville, on random values."""

import math
import random

import pytest

pytest.importorskip("ville", reason="make extras installs it")

import ville

from app.statistics.beta_mixture import log_evidence, rate_interval
from app.statistics.bounded_mean import MOST_LOST, MeanTest, mean_interval

pytestmark = pytest.mark.extra("ville")


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5])
def test_votes(rate: float) -> None:
    draws = random.Random(round(100 * rate))
    votes = [float(draws.random() < rate) for _ in range(500)]
    test, interval = ville.BernoulliTest(0.45).fit(votes), ville.BernoulliCS(intersect=False).fit(votes)
    for n in (1, 7, 60, 500):
        wins = round(sum(votes[:n]))
        assert log_evidence(wins, n - wins, 0.45) == pytest.approx(math.log(test.e_values_[n - 1]))
        assert rate_interval(wins, n - wins)[1:] == pytest.approx((interval.lower_[n - 1], interval.upper_[n - 1]))


@pytest.mark.parametrize("mean", [-0.5, 0.1, 0.8])
def test_bounded_values(mean: float) -> None:
    draws = random.Random(round(100 * mean))
    values = [min(2.0, max(-1.0, draws.gauss(0.2, 0.6))) for _ in range(300)]
    above, below = (ville.BettingTest(mean, (-1, 2), way, c=MOST_LOST).fit(values) for way in ("greater", "less"))
    interval = ville.BettingCS((-1, 2), c=MOST_LOST, intersect=False).fit(values)
    ours = MeanTest(mean, -1, 2)
    for n, value in enumerate(values, 1):
        ours.observe(value)
        assert ours.log_above == pytest.approx(math.log(above.e_values_[n - 1]))
        assert ours.log_below == pytest.approx(math.log(below.e_values_[n - 1]))
    found = mean_interval(values, -1, 2)
    assert (found.low, found.high) == pytest.approx((interval.lower_[-1], interval.upper_[-1]), abs=1e-3)
