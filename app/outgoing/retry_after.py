"""Read when a server wants to be asked again: the `Retry-After` header (RFC 9110, section 10.2.3)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

LONGEST = timedelta(days=1)
_NUMBER = re.compile(r"\d+(?:\.\d*)?", re.ASCII)


def read_retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """Return the server's wish, in seconds or as a date, between zero and a day; None where none can be read.

    A date counts from the server's own clock where it shows one (`Date`), so that a wrong clock here does no harm.
    """
    stated = headers.get("Retry-After", "").strip()
    seconds = time_of(stated, timedelta(seconds=1))
    if seconds is not None:
        return seconds
    when = _parse_date(stated)
    if when is None:
        return None
    return min(max(when - (_parse_date(headers.get("Date", "")) or datetime.now(UTC)), timedelta(0)), LONGEST)


def time_of(stated: str, unit: timedelta) -> timedelta | None:
    """Return so many units, at most a day; None for text that is no plain number."""
    return unit * min(float(stated), LONGEST / unit) if _NUMBER.fullmatch(stated) else None


def _parse_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):  # a stranger's text; the parser was made for mails
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
