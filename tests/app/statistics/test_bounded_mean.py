"""The bets on a bounded mean: known values, agreement of test and interval, and how often they err."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.statistics.bounded_mean import MeanTest, mean_interval

VALUES = [((i * 37) % 101) / 100 * 0.5 + 0.1 for i in range(200)]


def bet(values: list[float], mean: float, low: float = 0.0, high: float = 1.0) -> MeanTest:
    test = MeanTest(mean, low, high)
    for value in values:
        test.observe(value)
    return test


def test_values_of_ville() -> None:
    """ville 0.1.0 over the same values: `BettingTest(.3, c=.75)` both ways, `BettingCS(c=.75, intersect=False, grid=100001)`."""
    known = {
        1: (-0.69314718, 0.19415601),
        10: (-0.03777975, -0.43197225),
        50: (2.28367523, -3.47930079),
        200: (7.01843319, -10.45340774),
    }
    for n, wealth in known.items():
        test = bet(VALUES[:n], 0.3)
        assert (test.log_above, test.log_below) == pytest.approx(wealth)
    assert bet(VALUES[:50], 0.1, -1, 1).log_above == pytest.approx(7.68518963)
    # Its grid rounds outwards to the next hundred-thousandth.
    for n, low, high in ((10, 0.16574, 0.58685), (50, 0.28453, 0.42228), (200, 0.31631, 0.38071)):
        found = mean_interval(VALUES[:n], 0, 1)
        assert (found.low, found.high) == pytest.approx((low, high), abs=2e-5)
        assert low <= found.low
        assert found.high <= high


def test_without_values_every_mean_is_possible() -> None:
    found = mean_interval([], -2, 4)
    assert (found.low, found.high) == (-2, 4)


def test_a_value_outside_of_the_bounds_counts_as_the_nearer_bound() -> None:
    assert bet([7.0, -3.0], 0.4).log_above == bet([1.0, 0.0], 0.4).log_above


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.floats(0.05, 0.95))
def test_the_interval_leaves_out_what_the_bets_refuse(values: list[float], mean: float) -> None:
    found, test = mean_interval(values, 0, 1), bet(values, mean)
    assert 0 <= found.low <= found.high <= 1
    assert (test.log_above >= math.log(40)) == (mean <= found.low)
    assert (test.log_below >= math.log(40)) == (mean >= found.high)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(-5, 5), st.floats(0.1, 9))
def test_the_scale_of_the_values_makes_no_difference(values: list[float], start: float, width: float) -> None:
    plain, other = mean_interval(values, 0, 1), mean_interval([start + width * v for v in values], start, start + width)
    assert other.low == pytest.approx(start + width * plain.low, abs=1e-6)
    assert other.high == pytest.approx(start + width * plain.high, abs=1e-6)


def test_looking_after_every_value_errs_in_at_most_one_case_of_twenty() -> None:
    draws, erred = random.Random(3), 0
    for _ in range(500):
        test = MeanTest(0.2, 0, 1)
        for _ in range(200):
            test.observe(draws.random() < 0.2)
            if test.log_above >= math.log(20):
                erred += 1
                break
    assert 0 < erred / 500 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 500)
