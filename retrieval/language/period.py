"""A period: where a text names it, and the day on which it is over."""

import calendar
import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple


class Period(NamedTuple):
    """`[start, end)` in the text, and the last day of what is named."""

    start: int
    end: int
    until: date


def list_relative_periods(pattern: re.Pattern[str], text: str, until: date) -> Iterator[Period]:
    """Yield a period for each match of the pattern, all over on the same day."""
    return (Period(found.start(), found.end(), until) for found in pattern.finditer(text))


def find_last_day(year: int, month: int, day: int = 0) -> date | None:
    """Return that day, or the month's last; None for a day that no calendar has."""
    last = calendar.monthrange(year, month)[1] if 1 <= month <= 12 else 0
    return date(year, month, day or last) if 0 <= day <= last and last else None
