"""Dates in the forms in which files, pages and search providers give them."""

from datetime import UTC, date, datetime

import pytest

from retrieval.language.dates import read_date, read_recent_date


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2024-05-17T10:00:00Z", date(2024, 5, 17)),
        ("2024-05", date(2024, 5, 1)),
        (2024, date(2024, 1, 1)),
        ("Mar 3, 2021", date(2021, 3, 3)),
        ("3 days ago", None),
        ("2024-13-45", None),
        ("17 May 2024", date(2024, 5, 17)),
        ("December 4, 1832", date(1832, 12, 4)),
        ("2024/5/17", date(2024, 5, 17)),
        ("2024年5月17日", date(2024, 5, 17)),
        ("2024年5月", date(2024, 5, 1)),
        ("2024年", date(2024, 1, 1)),
        ("2024年13月", None),
        ("20245", None),
        ("2024-051", None),
        ("in 2024", None),
        ("", None),
        (None, None),
    ],
)
def test_dates_as_sources_state_them(said: str | int | None, meant: date | None) -> None:
    assert read_date(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("3 days ago", date(2026, 3, 7)),
        ("1 day ago", date(2026, 3, 9)),
        ("5 hours ago", date(2026, 3, 9)),
        ("20 mins ago", date(2026, 3, 10)),
        ("2 weeks ago", date(2026, 2, 24)),
        ("3天前", date(2026, 3, 7)),
        ("5 小时前", date(2026, 3, 9)),
        ("Mar 3, 2021", date(2021, 3, 3)),
        ("2 months ago", None),
        ("", None),
    ],
)
def test_dates_stated_by_their_age(said: str, meant: date | None) -> None:
    assert read_recent_date(said, datetime(2026, 3, 10, 2, tzinfo=UTC)) == meant
