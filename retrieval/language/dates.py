"""Dates as sources state them: to the day, the month or the year, in English and Chinese."""

import re
from datetime import date, datetime, timedelta

_ORDERED = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{2})(?:-(?P<day>\d{2}))?(?!\d)|年(?:(?P<month2>\d{1,2})月(?:(?P<day2>\d{1,2})日)?)?)"
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d{2}")
_AGO = re.compile(
    r"(\d{1,3})\s*(?:(?P<minutes>min(?:ute)?s?|分钟|分鐘)|(?P<hours>hours?|小时|小時)|(?P<days>days?|天)|(?P<weeks>weeks?|周|週))"
    r"\s*(?:ago|前)",
    re.IGNORECASE,
)
_WRITTEN = ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%Y/%m/%d")


def read_date(stated: str | int | None) -> date | None:
    """Read a date. A year, or a year and a month, counts as its first day; what states none gives None.

    What follows a day as YYYY-MM-DD, such as a time, is not read. A year alone is one from 1500 to 2099.
    """
    said = str(stated or "").strip()
    if found := _ORDERED.match(said):
        return _day(int(found["year"]), int(found["month"] or found["month2"] or 1), int(found["day"] or found["day2"] or 1))
    for form in _WRITTEN:
        try:
            return datetime.strptime(said, form).date()
        except ValueError:
            continue
    return date(int(said), 1, 1) if _YEAR.fullmatch(said) else None


def read_recent_date(stated: str | None, now: datetime) -> date | None:
    """Read a date that may be stated as minutes, hours, days or weeks before `now`, such as "3 days ago"."""
    found = _AGO.fullmatch((stated or "").strip())
    if found is None:
        return read_date(stated)
    return (now - timedelta(**{str(found.lastgroup): int(found[1])})).date()


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
