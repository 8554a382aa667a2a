"""The Beta mixture of votes: known values, agreement of test and interval, and how often it errs."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.statistics.beta_mixture import is_above, is_below, log_evidence, rate_interval


def test_evidence_is_worked_out_by_hand() -> None:
    # Five wins of five: B(6, 1) / (1/2)^5 = (1/6) x 32.
    assert math.exp(log_evidence(5, 0, 0.5)) == pytest.approx(32 / 6)
    # Two wins and a loss against 1/4: B(3, 2) / (1/16 x 3/4) = (1/12) / (3/64).
    assert math.exp(log_evidence(2, 1, 0.25)) == pytest.approx(64 / 36)
    assert log_evidence(0, 0, 0.3) == pytest.approx(0)
    assert log_evidence(1, 3, 0.0) == math.inf
    assert log_evidence(0, 3, 0.0) < 0


def test_values_of_ville() -> None:
    """ville 0.1.0: `BernoulliTest(.5)` and `BernoulliCS(.05, intersect=False)` over 18 ones among 60, in this order."""
    votes = [(i * 7 + 3) % 10 < 3 for i in range(60)]
    known = {
        10: (-0.25391521, 0.03664029, 0.73325947),
        30: (0.88415824, 0.1004491, 0.57370895),
        60: (3.01711015, 0.14199492, 0.49955413),
    }
    for n, (evidence, low, high) in known.items():
        wins = sum(votes[:n])
        assert log_evidence(wins, n - wins, 0.5) == pytest.approx(evidence)
        assert rate_interval(wins, n - wins)[1:] == pytest.approx((low, high))


@given(wins=st.integers(0, 300), losses=st.integers(0, 300), rate=st.floats(0.01, 0.99))
def test_the_interval_leaves_out_what_the_test_refuses(wins: int, losses: int, rate: float) -> None:
    found = rate_interval(wins, losses)
    assert 0 <= found.low <= found.rate <= found.high <= 1
    assert is_below(wins, losses, rate) == (found.high <= rate < 1 and wins + losses > 0 and found.high < 1)
    assert is_above(wins, losses, rate) == is_below(losses, wins, 1 - rate)


@pytest.mark.parametrize("rate", [0.5, 0.45])
def test_looking_after_every_vote_errs_in_at_most_one_case_of_twenty(rate: float) -> None:
    votes = random.Random(7)
    erred = 0
    for _ in range(600):
        wins = 0
        for n in range(1, 301):
            wins += votes.random() < rate
            if log_evidence(wins, n - wins, rate) >= math.log(20):
                erred += 1
                break
    assert erred / 600 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 600)
    assert erred > 0
