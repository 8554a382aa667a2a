"""Check cron expressions as people write them, before they are used."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from app.domain.errors import InvalidInput
from app.domain.schedules import Timing

SHORTEST = timedelta(minutes=55)
"""Askings must be an hour apart; in the night when clocks change, the gap may be a little shorter."""
CHECKED_TIMES = 60
PLAIN = re.compile(r"[0-9A-Za-z*,/-]+( [0-9A-Za-z*,/-]+){4}")
NAMES = re.compile("jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat", re.IGNORECASE)
NO_PLACES = frozenset({"Factory", "localtime"})
"""The database of time zones has these, but they name no place: another machine, as the workflow service's, may not know them."""


def check_timing(timing: Timing, now: datetime) -> Timing:
    """Return the timing with single spaces in its expression.

    Raises:
        InvalidInput: no five-field cron expression, an unknown time zone, askings less than an hour apart, or none at all.
    """
    cron = " ".join(timing.cron.split())
    if timing.time_zone not in available_timezones() - NO_PLACES:
        raise InvalidInput(f"{timing.time_zone[:64]!r} is no time zone; name one such as Europe/Berlin")
    fields = cron.split()
    if not PLAIN.fullmatch(cron) or (fields[2] != "*" and fields[4] != "*"):
        raise InvalidInput("write five fields (minute hour day month weekday), such as `0 8 * * mon`; not both day and weekday")
    if strange := next((word for word in re.findall("[A-Za-z]+", cron) if not NAMES.fullmatch(word)), None):
        raise InvalidInput(
            f"{strange!r} is no name of a month or weekday, such as jan or mon; days such as L, the last, are not known"
        )
    timing = timing.model_copy(update={"cron": cron})
    due = list(islice(_list_due(timing, now), CHECKED_TIMES))
    if not due:
        raise InvalidInput(f"the cron expression {cron!r} is never due")
    if any(later - earlier < SHORTEST for earlier, later in pairwise(due)):
        raise InvalidInput("a question may be asked at most once an hour; give the minute as one number")
    return timing


def find_next_due(timing: Timing, now: datetime) -> datetime | None:
    """Return the next due time, without jitter."""
    return next(_list_due(timing, now), None)


def _list_due(timing: Timing, now: datetime) -> Iterator[datetime]:
    try:
        yield from CronSim(timing.cron, now.astimezone(ZoneInfo(timing.time_zone)))
    except CronSimError as error:
        raise InvalidInput(f"{timing.cron!r} is no cron expression: {error}") from error
