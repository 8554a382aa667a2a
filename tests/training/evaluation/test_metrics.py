"""Preference metrics and short answers, worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.missing import Missing
from training.evaluation.answer_metrics import exact_match, token_f1
from training.evaluation.preference_metrics import preference_accuracy


def test_accuracy_counts_a_tie_as_wrong() -> None:
    assert preference_accuracy([0.2, 0.0, -0.1, 0.3]) == 0.5
    assert preference_accuracy([]) == Missing("no pairs")


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
