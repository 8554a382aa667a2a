"""Wilson's interval against published values, and as a reader expects it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.statistics.wilson import wilson_interval


def test_wilsons_interval_of_known_tables() -> None:
    assert wilson_interval(8, 10) == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4)
    assert wilson_interval(0, 10) == pytest.approx((0.0, 0.0, 0.2775), abs=1e-4)
    assert wilson_interval(0, 0) is None


@given(n=st.integers(1, 400), share=st.floats(0, 1))
def test_the_interval_holds_the_rate_and_narrows_with_more_votes(n: int, share: float) -> None:
    wins = round(share * n)
    few, many = wilson_interval(wins, n), wilson_interval(100 * wins, 100 * n)
    assert few is not None
    assert many is not None
    assert 0 <= few.low <= few.rate <= few.high <= 1
    assert many.high - many.low < few.high - few.low
