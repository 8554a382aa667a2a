"""The hold-out of an export: whole queries, the newest ones."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from app.domain.retraining import HeldOut
from app.domain.split import Split
from app.preferences.service.held_out import hold_out_newest, name_query

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


def ask(count: int) -> list[tuple[str, datetime]]:
    return [(f"question {n}", BEGINNING + timedelta(days=n)) for n in range(count)]


@pytest.mark.parametrize(("count", "held"), [(1, 0), (4, 0), (5, 1), (12, 2), (100, 10)])
def test_the_newest_queries_are_held_out(count: int, held: int) -> None:
    sides = hold_out_newest(ask(count))
    counts = Counter(sides.values())
    assert (counts[Split.TEST], counts[Split.VALIDATION]) == (held, held)
    in_time = [sides[question] for question, _ in ask(count)]
    assert in_time == sorted(in_time, key=list(Split).index), "no query for training is newer than one that is held out"


def test_a_query_is_as_old_as_the_first_time_it_was_asked_in_any_spelling() -> None:
    again = ("Question  0", BEGINNING + timedelta(days=99))
    sides = hold_out_newest([again, *ask(12)])
    assert len(sides) == 12
    assert sides[name_query(again[0])] is Split.TRAIN


def test_a_plan_may_hold_out_other_shares() -> None:
    sides = hold_out_newest(ask(100), HeldOut(test=0.4, validation=0.15).shares)
    assert Counter(sides.values()) == {Split.TRAIN: 45, Split.TEST: 40, Split.VALIDATION: 15}
    assert sides["question 99"] is Split.TEST
    assert sides["question 59"] is Split.VALIDATION


@pytest.mark.parametrize("shares", [{"test": 0.9}, {"validation": 0.4}])
def test_a_plan_leaves_something_to_learn_from(shares: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="less than or equal to"):
        HeldOut(**shares)
