"""The times at which a question is asked again: chosen by day and hour, and told in words."""

import re

import streamlit as st

from rubrica_client.models import Timing
from ui.language import say, say_name

OFTEN = ("daily", "weekly", "monthly")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAYS_OF_EACH_MONTH = range(1, 29)
USUAL_HOUR = 7
_CRON = re.compile(r"(?P<minute>\d{1,2}) (?P<hour>\d{1,2}) (?P<date>\*|\d{1,2}) \* (?P<weekday>\*|[a-z]{3}|[0-7])")


def ask_timing() -> Timing:
    """Draw how often, on which day and at which hour; the hour is the visitor's own."""
    often = st.segmented_control(
        say("repeat.often"),
        OFTEN,
        default="weekly",
        required=True,
        format_func=lambda v: say_name("often", v),
        key="repeat_often",
    )
    date, weekday = "*", "*"
    with st.container(horizontal=True):
        if often == "weekly":
            weekday = st.selectbox(say("repeat.weekday"), WEEKDAYS, format_func=_name_weekday, key="repeat_weekday")
        elif often == "monthly":
            date = str(st.selectbox(say("repeat.date"), DAYS_OF_EACH_MONTH, key="repeat_date"))
        hour = st.selectbox(say("repeat.hour"), range(24), USUAL_HOUR, lambda hour: f"{hour}:00", key="repeat_hour")
    return Timing(cron=f"0 {hour} {date} * {weekday}", time_zone=st.context.timezone or "UTC")


def describe_timing(timing: Timing) -> str:
    """Return when the question is asked in words; the cron expression itself where it says more than a day and a time."""
    return f"{_describe_cron(timing.cron)} ({timing.time_zone})"


def _describe_cron(cron: str) -> str:
    found = _CRON.fullmatch(cron.strip().lower())
    weekday = _read_weekday(found["weekday"]) if found else None
    if not found or weekday is None or (found["date"] != "*" and weekday):
        return cron
    time = f"{int(found['hour'])}:{int(found['minute']):02}"
    if found["date"] != "*":
        return say("when.monthly", date=int(found["date"]), time=time)
    return say("when.weekly", day=_name_weekday(weekday), time=time) if weekday else say("when.daily", time=time)


def _read_weekday(field: str) -> str | None:
    """Return the day as the page names it; empty for every day, None for a word that is no day."""
    if field == "*":
        return ""
    if field.isdecimal():
        return WEEKDAYS[int(field) - 1]  # cron counts from Sunday, which is 0 and 7
    return field if field in WEEKDAYS else None


def _name_weekday(weekday: str) -> str:
    return say_name("weekday", weekday)
