"""The rule that decides whether a call was paid for twice."""

from datetime import UTC, datetime

import pytest

from bench.billing import Billing, StoredTurn, compare_bill, count_late_calls
from tests.support.model_stub_bill import BillLine


def call(key: str, start: float, outcome: str = "answered") -> BillLine:
    return BillLine(body=key, key=key, step="s", start=start, end=start + 0.2, outcome=outcome)


def turn(digest: str, stored: float, agent: str = "plan") -> StoredTurn:
    return StoredTurn(agent=agent, ordinal=0, digest=digest, stored_at=datetime.fromtimestamp(stored, UTC))


def test_one_call_one_turn() -> None:
    assert compare_bill([call("a", 1)], [turn("a", 1.3)]) == Billing(calls=1, double_billed=0, repeated_in_flight=0, unstored=0)


def test_a_call_after_its_answer_was_stored_is_double() -> None:
    assert compare_bill([call("a", 1), call("a", 5)], [turn("a", 1.3)]).double_billed == 1


def test_calls_cut_off_or_not_yet_stored_are_counted_apart() -> None:
    lines = [call("cut", 1, "aborted"), call("cut", 5), call("unstored", 1), call("unstored", 5)]
    assert compare_bill(lines, [turn("cut", 5.3), turn("unstored", 5.3)]) == Billing(4, 0, 2, 0)


def test_faults_of_the_server_sell_nothing() -> None:
    assert compare_bill([call("a", 1, "rate_limited"), call("a", 2)], [turn("a", 2.3)]) == Billing(1, 0, 0, 0)


def test_an_answer_in_no_turn_is_lost_work() -> None:
    assert compare_bill([call("a", 1)], []) == Billing(1, 0, 0, 1)


@pytest.mark.parametrize(
    ("starts", "stored", "late"),
    [([1, 2], [3, 4], 0), ([1, 3.5], [3, 4], 0), ([1, 2, 5], [3, 4], 1), ([1, 3.5, 3.6], [3, 4], 1), ([1, 2], [], 0)],
)
def test_two_agents_may_need_the_same_answer(starts: list[float], stored: list[float], late: int) -> None:
    assert count_late_calls(starts, stored) == late
