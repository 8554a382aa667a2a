"""`Retry-After` as servers write it, and as nobody should."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.outgoing.retry_after import LONGEST, read_retry_after

TEN = "Fri, 20 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("stated", "seconds"),
    [
        ("7", 7),
        (" 1.5 ", 1.5),
        ("0", 0),
        ("9" * 400, 86_400),
        ("Fri, 20 Nov 2026 10:00:40 GMT", 40),
        ("Fri, 20 Nov 2026 09:00:00 GMT", 0),
        ("Fri, 20 Nov 2026 10:00:40", 40),
        ("Fri, 20 Nov 2099 10:00:00 GMT", 86_400),
        *(
            (nothing, None)
            for nothing in ("", "soon", "-1", "nan", "inf", "1e9", "²²²", "1200000 or so", "Fri, 99 Nov 2026 10:00 GMT")
        ),
    ],
)
def test_a_wish_is_read_by_the_servers_own_clock_and_is_at_most_a_day(stated: str, seconds: float | None) -> None:
    assert read_retry_after({"Retry-After": stated, "Date": TEN}) == (None if seconds is None else timedelta(seconds=seconds))


def test_without_a_clock_of_theirs_ours_counts() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=5), usegmt=True)
    wish = read_retry_after({"Retry-After": later, "Date": "noon"})
    assert wish is not None
    assert timedelta(hours=4) < wish <= timedelta(hours=5)
    assert read_retry_after({}) is None


@given(st.text(), st.text(alphabet="0123456789 :,-+.FriNovGMT"))
def test_whatever_a_stranger_writes_is_a_time_or_nothing(stated: str, date: str) -> None:
    for headers in ({"Retry-After": stated, "Date": date}, {"Retry-After": date, "Date": stated}):
        wish = read_retry_after(headers)
        assert wish is None or timedelta(0) <= wish <= LONGEST
