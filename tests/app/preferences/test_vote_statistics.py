"""Strengths of ways of writing, and which pair to ask about next."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.preferences.service.vote_statistics import Contest, fit_strengths, measure_information, predict_win


def test_strengths_of_two_ways_reproduce_their_odds() -> None:
    # With many votes the one tie with an average opponent no longer shows: 3 wins in 4 are odds of 3.
    found = fit_strengths([Contest("a", "b", 30_000, 10_000, 0)])
    assert found["a"] / found["b"] == pytest.approx(3, rel=1e-3)
    assert predict_win(found, "a", "b") == pytest.approx(0.75, abs=1e-3)


def test_ways_that_never_met_are_compared_by_those_they_met() -> None:
    found = fit_strengths([Contest("a", "b", 80, 20, 0), Contest("b", "c", 80, 20, 0)])
    assert predict_win(found, "a", "c") > 0.9
    assert predict_win(found, "c", "a") == pytest.approx(1 - predict_win(found, "a", "c"))
    assert math.prod(found.values()) == pytest.approx(1)


def test_a_way_that_never_lost_has_a_finite_strength_and_an_unknown_one_an_even_chance() -> None:
    found = fit_strengths([Contest("a", "b", 5, 0, 0)])
    assert 0.5 < predict_win(found, "a", "b") < 1
    assert predict_win(found, "x", "y") == 0.5
    assert fit_strengths([]) == {}
    assert fit_strengths([Contest("a", "a", 3, 4, 1)]) == {}


def test_true_strengths_are_found_again() -> None:
    draw, true = random.Random(3), {"a": 4.0, "b": 2.0, "c": 1.0, "d": 0.5}
    contests = []
    for one, other in (("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d")):
        wins = sum(draw.random() < true[one] / (true[one] + true[other]) for _ in range(2_000))
        contests.append(Contest(one, other, wins, 2_000 - wins, 0))
    found = fit_strengths(contests)
    assert predict_win(found, "a", "d") == pytest.approx(8 / 9, abs=0.02)


def test_the_queue_goes_to_pairs_without_votes_then_to_those_in_dispute() -> None:
    fresh, foregone = measure_information(0.5, 0, 0, 0), measure_information(0.95, 0, 0, 0)
    disputed, settled = measure_information(0.5, 1, 1, 0), measure_information(0.5, 2, 0, 0)
    assert fresh > foregone > 0
    assert fresh > disputed > settled
    assert measure_information(0.5, 3, 2, 0) > measure_information(0.5, 5, 0, 0)


@given(st.floats(0.01, 0.99), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_the_measure_does_not_care_which_candidate_is_first_and_falls_with_more_of_the_same(
    chance: float, wins: int, losses: int, ties: int
) -> None:
    now = measure_information(chance, wins, losses, ties)
    assert now == pytest.approx(measure_information(1 - chance, losses, wins, ties))
    if wins + losses + ties:
        assert measure_information(chance, 40 * wins, 40 * losses, 40 * ties) < now
