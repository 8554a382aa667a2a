"""Which times people may name, and what comes of them."""

from datetime import UTC, datetime

import pytest

from app.domain.errors import InvalidInput
from app.domain.schedules import Timing
from app.schedules.service.cron import check_timing, find_next_due

NOW = datetime(2026, 3, 27, 12, tzinfo=UTC)  # a Friday, two days before clocks change in Europe


@pytest.mark.parametrize(
    ("cron", "zone", "due"),
    [
        ("0 8 * * mon", "UTC", datetime(2026, 3, 30, 8, tzinfo=UTC)),
        ("0  8 * *  1", "Europe/Berlin", datetime(2026, 3, 30, 6, tzinfo=UTC)),  # summer time by then
        ("30 2 * * *", "America/New_York", datetime(2026, 3, 28, 6, 30, tzinfo=UTC)),
        ("15 9 1 * *", "Asia/Shanghai", datetime(2026, 4, 1, 1, 15, tzinfo=UTC)),
        ("0 */6 * * *", "UTC", datetime(2026, 3, 27, 18, tzinfo=UTC)),
    ],
)
def test_a_timing_is_due_in_its_own_time_zone(cron: str, zone: str, due: datetime) -> None:
    assert find_next_due(check_timing(Timing(cron=cron, time_zone=zone), NOW), NOW) == due


@pytest.mark.parametrize(
    ("cron", "zone", "reason"),
    [
        ("* * * * *", "UTC", "at most once an hour"),
        ("0,30 8 * * *", "UTC", "at most once an hour"),
        ("0 8 * *", "UTC", "five fields"),
        ("0 8 1 * mon", "UTC", "not both"),
        ("0 8 31 2 *", "UTC", "never due|no cron"),
        ("61 8 * * *", "UTC", "no cron expression"),
        ("@hourly", "UTC", "five fields"),
        ("0 8 * * mon; rm", "UTC", "five fields"),
        ("0 8 * * 1#1", "UTC", "five fields"),
        ("0 8 L * *", "UTC", "'L' is no name"),
        ("0 8 LW * *", "UTC", "'LW' is no name"),
        ("0 8 1,L * *", "UTC", "'L' is no name"),
        ("0 8 * * 1L", "UTC", "'L' is no name"),
        ("0 8 * * *", "localtime", "no time zone"),
        ("0 8 * * *", "Factory", "no time zone"),
        ("0 8 * * *", "Europe/Lund", "no time zone"),
        ("0 8 * * *", "../../etc/passwd", "no time zone"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_the_reason(cron: str, zone: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        check_timing(Timing(cron=cron, time_zone=zone), NOW)
