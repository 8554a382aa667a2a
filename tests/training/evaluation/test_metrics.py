"""Preference metrics and short answers, worked by hand."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.missing import Missing
from training.evaluation.answer_metrics import exact_match, token_f1
from training.evaluation.preference_metrics import BootstrapInterval, bootstrap, cohens_d, preference_accuracy


def test_accuracy_counts_a_tie_as_wrong() -> None:
    assert preference_accuracy([0.2, 0.0, -0.1, 0.3]) == 0.5
    assert preference_accuracy([]) == Missing("no pairs")


def test_cohens_d_by_hand() -> None:
    assert cohens_d([1.0, 3.0]) == 2.0  # mean 2, standard deviation 1
    assert cohens_d([-1.0, 1.0]) == 0.0
    assert isinstance(cohens_d([0.4, 0.4]), Missing)


def test_the_bootstrap_covers_the_truth_as_often_as_it_says() -> None:
    generator = random.Random(7)
    covered = 0
    for trial in range(120):
        drawn = [generator.gauss(0.5, 1.0) for _ in range(60)]
        found = bootstrap(lambda values: math.fsum(values) / len(values), drawn, seed=trial, resamples=400)
        assert isinstance(found, BootstrapInterval)
        covered += found.low <= 0.5 <= found.high
    assert 105 <= covered <= 120  # 95 % of 120 is 114


def test_the_same_seed_gives_the_same_interval() -> None:
    values = [0.1, -0.2, 0.4, 0.3]
    assert bootstrap(preference_accuracy, values, seed=3) == bootstrap(preference_accuracy, values, seed=3)


def test_an_undefined_figure_has_no_interval() -> None:
    assert isinstance(bootstrap(cohens_d, [0.4, 0.4]), Missing)
    assert isinstance(bootstrap(preference_accuracy, []), Missing)


@pytest.mark.parametrize(
    ("answer", "gold", "match", "f1"),
    [
        ("The Panama Canal.", ["panama canal"], 1.0, 1.0),
        ("the canal", ["Panama Canal"], 0.0, 2 / 3),
        ("in 1904", ["1904", "1905"], 0.0, 2 / 3),
        ("长城", ["长城。"], 1.0, 1.0),
        ("中国长城", ["长城"], 0.0, 2 / 3),
        ("", ["x"], 0.0, 0.0),
        ("x", [], 0.0, 0.0),
        ("the", ["a"], 0.0, 0.0),
        ("to be or to be", ["to be"], 0.0, 4 / 7),
    ],
)
def test_short_answers(answer: str, gold: list[str], match: float, f1: float) -> None:
    assert exact_match(answer, gold) == match
    assert token_f1(answer, gold) == pytest.approx(f1)


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=3))
def test_bounds(answer: str, gold: list[str]) -> None:
    assert exact_match(answer, gold) <= token_f1(answer, gold) <= 1.0
