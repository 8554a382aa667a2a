"""The language of planted preferences, and its counting, by hand."""

import random
from statistics import fmean

import pytest

from bench.learning_tasks.rubric_grammar import (
    DEMANDS,
    ITEMS,
    OPENINGS,
    SEEN,
    UNSEEN,
    list_questions,
    rate_rubric,
    write_item,
    write_order,
    write_report,
    write_rubric,
)
from bench.learning_tasks.scoring import find_constant
from training.recipes.rubric_generator.rule_judge import MATCHES

(ASKED, *_) = list_questions(UNSEEN, 1, random.Random(0))
"""Its readers want a table."""


def rubric(**weights: int) -> str:
    return f"<answer>[{', '.join(write_item(name, 'Key', weight) for name, weight in weights.items())}]</answer>"


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (rubric(table=5, shorter=4, headings=2, tone=5), 1.0),
        (rubric(table=1), 1.0),
        (rubric(table=3, headings=2, limits=3), 2 / 3),
        (rubric(headings=5, limits=5), 0.0),
        ("<answer>[" + ", ".join([write_item("table", "Key", 5)] * 9) + "]</answer>", 0.0),
        ("<answer>[" + ", ".join(write_item(name, "Key", 5) for name in DEMANDS) + "]</answer>", 0.0),
        ("no rubric", 0.0),
    ],
)
def test_a_rubric_is_counted_by_what_it_puts_above_what(text: str, score: float) -> None:
    assert rate_rubric(text, ASKED)["score"] == pytest.approx(score)


def test_what_is_held_out_differs_in_kind() -> None:
    learned, held_out = ({(kind.opening, kind.end) for kind in kinds} for kinds in (SEEN, UNSEEN))
    assert (len(learned), len(held_out), learned & held_out) == (24, 12, set())
    for place in (0, 1):
        assert {kind[place] for kind in held_out} == {kind[place] for kind in learned}, "each opening and end is known alone"


def test_no_constant_rubric_ranks_more_than_half_of_what_is_held_out() -> None:
    items = {str(n): each for n, each in enumerate(list_questions(UNSEEN, 60, random.Random(1)))}
    candidates = [write_order([*OPENINGS]), write_order([*OPENINGS][::-1]), rubric(table=5, headings=4, shorter=3)]
    assert find_constant(candidates, items, rate_rubric) == pytest.approx(0.5)


@pytest.mark.parametrize("wanted", OPENINGS)
def test_a_report_has_what_it_is_written_with(wanted: str) -> None:
    others = [write_report(other) for other in OPENINGS if other != wanted]
    assert all(MATCHES[wanted](write_report(wanted)) > MATCHES[wanted](other) for other in others)


def test_the_writer_of_the_mix_reads_a_little() -> None:
    chance = random.Random(2)
    asked = list_questions(SEEN, 600, chance)
    texts = [write_rubric(chance, {question.wanted}) for question in asked]
    assert all(text.count('{"title"') == ITEMS for text in texts)
    assert 0.3 < fmean(rate_rubric(text, question)["score"] for text, question in zip(texts, asked, strict=True)) < 0.6
