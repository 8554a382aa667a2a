"""How calls above a limit are counted."""

import pytest

from bench.tools_stub import count_over_limit


@pytest.mark.parametrize(
    ("times", "over"),
    [
        ([], 0),
        ([0.0, 0.1, 0.2], 0),
        ([0.0, 0.1, 0.2, 0.3], 1),
        ([0.0, 0.1, 0.2, 1.05], 0),
        ([0.0, 0.5, 0.6, 0.99, 1.4, 1.45], 3),
        ([0.0, 0.0, 0.0, 0.0, 0.0], 2),
    ],
)
def test_calls_beyond_three_in_any_second_are_over(times: list[float], over: int) -> None:
    assert count_over_limit(times, 3) == over
