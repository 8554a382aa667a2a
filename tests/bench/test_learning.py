"""The figures of the learning bench."""

from dataclasses import replace
from statistics import fmean

import pytest

from bench.learning import summarise
from bench.learning_tasks.protocol import PolicyScores, SeedScores
from bench.learning_tasks.scoring import score_answers


def make_seed(gain: float) -> SeedScores:
    """Return a seed in which every item gains this much."""
    before, after = (PolicyScores({str(n): n / 20 + more for n in range(10)}) for more in (0.0, gain))
    return SeedScores(before, before, after, before)


def test_a_gain_counts_only_above_the_best_constant_answer_and_above_answers_to_other_items() -> None:
    before, after = make_seed(0.4).sft, make_seed(0.4).trained
    assert summarise("r", [make_seed(0.4)])["r_counted_gain"] == pytest.approx(0.4)
    for bound, trained in (("constant", replace(after, constant=0.7)), ("shuffled", replace(after, shuffled=0.7))):
        figures = summarise("r", [SeedScores(before, before, trained, before)])
        assert figures[f"r_{bound}"] == pytest.approx(0.7)
        assert figures["r_counted_gain"] == pytest.approx(fmean(after.items.values()) - 0.7)
        assert figures["r_least_gain"] == pytest.approx(0.4)


def test_each_part_of_a_score_is_told() -> None:
    before, after = make_seed(0.4).sft, make_seed(0.4).trained
    told = [replace(before, parts={"tables": 0.3, "tense": 0.5}), replace(after, parts={"tables": 0.7, "tense": 0.4})]
    figures = summarise("r", [SeedScores(before, told[0], told[1], before)] * 2)
    assert (figures["r_tables_baseline"], figures["r_tense_trained"]) == pytest.approx((0.3, 0.4))
    assert figures["r_least_part_gain"] == pytest.approx(-0.1), "what one part gains hides no other"


def test_answers_are_scored_beside_one_for_all_and_for_other_items() -> None:
    items = {"a": 1, "b": 2, "c": 3}
    scores = score_answers(
        {"a": 1, "b": 2}, items, lambda answer, item: {"score": float(answer == item), "size": 0.5}, lambda _, __: {}, key=str
    )
    assert scores.items == {"a": 1.0, "b": 1.0, "c": 0.0}, "no answer scores 0"
    assert (scores.constant, scores.shuffled) == pytest.approx((1 / 3, 0.0))
    assert scores.parts == pytest.approx({"size": 1 / 3})


def test_one_lucky_seed_does_not_make_a_recipe_learn() -> None:
    figures = summarise("r", [make_seed(0.4), make_seed(0.0), make_seed(-0.01)])
    assert figures["r_ci_low"] > 0
    assert figures["r_least_gain"] == pytest.approx(-0.01)
