"""Turns and tool calls a sample (QSR appendix H)."""

import pytest

from app.domain.budget import StopReason, Usage
from app.domain.evidence import Finding
from app.domain.interactions import Interactions, interactions_of, statistics_of


def test_all_searches_of_a_run_count() -> None:
    findings = [
        Finding(subtask_id=f"s{n}", stop=StopReason.SUFFICIENT, turns=n, usage=Usage(tool_calls=10 * n)) for n in (1, 2, 4)
    ]
    assert interactions_of(findings) == Interactions(turns=7, tool_calls=70)
    assert interactions_of([]) == Interactions()


def test_the_distribution_over_samples_by_hand() -> None:
    found = statistics_of([Interactions(turns=turns, tool_calls=5) for turns in (2, 4, 4, 10)])
    assert found.samples == 4
    turns = found.turns
    assert (turns.mean, turns.least, turns.lower, turns.median, turns.upper, turns.most) == (5.0, 2, 3.5, 4.0, 5.5, 10)
    assert turns.sd == pytest.approx((36 / 3) ** 0.5)  # deviations 3, 1, 1, 5
    assert (found.tool_calls.mean, found.tool_calls.sd) == (5.0, 0.0)


def test_one_sample_has_no_spread_and_none_have_no_distribution() -> None:
    one = statistics_of([Interactions(turns=3, tool_calls=8)])
    assert (one.turns.sd, one.turns.lower, one.turns.upper) == (0.0, 3.0, 3.0)
    with pytest.raises(ValueError, match="no samples"):
        statistics_of([])
