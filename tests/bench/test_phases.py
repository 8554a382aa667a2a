"""Where a kill is booked, from the log of the run it hit."""

from datetime import UTC, datetime, timedelta

import pytest

from bench.phases import Phase, count_section_turns, count_turns_before_sections, find_windows, has_begun, phase_of
from rubrica_client.models import EventType, RunEvent

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
LOG = [
    ("stage_started", "plan"),
    ("model_call", "plan"),
    ("stage_finished", "plan"),
    ("stage_started", "search/a"),
    ("model_call", "search/a"),
    ("stage_finished", "search/a"),
    ("stage_started", "report"),
    ("model_call", "report"),
    ("model_call", "report"),
    ("model_call", "report/section/0"),
    ("model_call", "report/section/1"),
    ("model_call", "report"),
    ("stage_finished", "report"),
]
EVENTS = [
    RunEvent(
        run_id="r1",
        seq=n,
        type=EventType(kind),
        agent=agent,
        payload={"stage": agent} if "stage" in kind else {},
        at=BEGIN + timedelta(seconds=n),
    )
    for n, (kind, agent) in enumerate(LOG, start=1)
]


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (0, "STARTING"),
        (1, "PLAN"),
        (3, "PLAN"),
        (4, "SEARCH"),
        (6, "SEARCH"),
        (7, "OUTLINE"),
        (8, "OUTLINE"),
        (9, "SECTIONS"),
        (10, "SECTIONS"),
        (11, "FINAL"),
        (13, "FINAL"),
    ],
)
def test_the_phase_follows_from_the_log_so_far(seen: int, expected: str) -> None:
    assert phase_of(EVENTS[:seen], count_turns_before_sections(EVENTS), count_section_turns(EVENTS)) is Phase[expected]


def test_a_phase_has_begun_when_the_log_shows_it_or_a_later_one() -> None:
    assert not has_begun(EVENTS[:8], Phase.SECTIONS, 2)
    assert has_begun(EVENTS[:9], Phase.SECTIONS, 2)
    assert has_begun(EVENTS, Phase.PLAN, 2)


def test_windows_of_an_uninterrupted_run() -> None:
    found = {p: tuple((at - BEGIN).seconds for at in window) for p, window in find_windows(EVENTS).items()}
    assert found == {Phase.PLAN: (1, 3), Phase.SEARCH: (4, 6), Phase.OUTLINE: (7, 9), Phase.SECTIONS: (9, 11)}
