"""The world of short searches: what a teacher leaves behind, and the counting, by hand."""

import pytest

from bench.learning_tasks.short_searches import (
    LengthQuestion,
    probe_outputs,
    rate_search,
    split_questions,
    write_answer,
    write_call,
)

ASKED = LengthQuestion("Ashford", "pier", 130)
OTHER = LengthQuestion("Brindle", "pier", 134)
CALL, ANSWER = write_call(ASKED), write_answer(ASKED)


@pytest.mark.parametrize(
    ("outputs", "score"),
    [
        ([CALL, ANSWER], 1.0),
        (["I look for it: Ashford pier", CALL, ANSWER], 2 / 3),
        ([CALL, ASKED.said], 0.0),
        ([CALL, write_answer(OTHER)], 0.0),
        ([write_call(OTHER), ANSWER], 0.0),
        ([write_call(OTHER), CALL, ANSWER], 0.5),
        ([CALL.replace(ASKED.query, f"{ASKED.query} {OTHER.query}"), ANSWER], 0.0),
        ([CALL, write_answer(OTHER), ANSWER], 0.0),
        ([CALL.removeprefix("<think>"), ANSWER], 0.0),
        ([CALL + " and more", f"{ANSWER}{ANSWER}"], 0.0),
        ([], 0.0),
    ],
)
def test_form_and_answer_are_counted(outputs: list[str], score: float) -> None:
    assert rate_search(outputs, ASKED)["score"] == pytest.approx(score)


def test_questions_are_held_out() -> None:
    learned, held_out = split_questions(1)
    assert not {each.query for each in learned} & {each.query for each in held_out}
    assert {each.place for each in held_out} <= {each.place for each in learned}


def test_probes_see_more_turns_and_repeated_ones() -> None:
    plain, long = probe_outputs([CALL, ANSWER]), probe_outputs([CALL, CALL, ANSWER])
    assert all(long[name] > plain[name] for name in plain)
