"""How long a search waits for the vectors of a build."""

from datetime import UTC, datetime, timedelta

import pytest

from retrieval.service.build_pace import BuildPace
from retrieval.store.catalogue import Build, BuildPhase

LONGEST = timedelta(seconds=20)


def make_build(done: int, total: int, phase: BuildPhase = BuildPhase.ENCODING, generation: str = "a.1.words") -> Build:
    now = datetime(2026, 1, 5, tzinfo=UTC)
    return Build(
        collection="a", number=1, phase=phase, generation=generation, done=done, total=total, started_at=now, updated_at=now
    )


@pytest.mark.parametrize(
    ("done", "total", "seconds", "wait"),
    [
        (0, 1_999, 3, 17),  # no pace is known yet
        (0, 2_000, 3, 0),
        (0, 1_999, 21, 0),  # and none comes
        (500, 2_000, 5, 15),  # 100 a second: 15 seconds are left
        (500, 2_001, 5, 0),
        (50_000, 90_000, 10, 10),  # many passages at a great pace
    ],
)
def test_a_search_waits_for_what_ends_in_time(done: int, total: int, seconds: float, wait: float) -> None:
    pace = BuildPace.begin(make_build(0, total), 100.0)
    assert pace.find_wait(make_build(done, total), 100.0 + seconds, LONGEST) == wait


def test_only_encoding_is_waited_for() -> None:
    for phase in (BuildPhase.READING, BuildPhase.INDEXING, BuildPhase.DONE, BuildPhase.FAILED):
        build = make_build(0, 10, phase)
        assert BuildPace.begin(build, 0.0).find_wait(build, 1.0, LONGEST) == 0


def test_vectors_that_the_index_had_before_are_no_work_of_this_build() -> None:
    pace = BuildPace.begin(make_build(0, 10_000), 0.0)
    taken_up = make_build(9_000, 10_000, generation="a.1.minilm")
    pace = pace.continue_with(taken_up, 1.0)
    assert pace.measure(taken_up, 1.0) is None
    assert pace.measure(make_build(9_100, 10_000, generation="a.1.minilm"), 10.0) == 10.0
    assert pace.continue_with(make_build(0, 5, BuildPhase.READING), 12.0) == (BuildPhase.READING, "a.1.words", 12.0, 0)
