"""Periods as English sentences name them: "by mid-2025", "in 2024Q3", "from 2019 to 2024", "last year"."""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from app.domain.dates import MONTHS
from retrieval.language.period import Period, find_last_day, list_relative_periods

_MONTHS = {name: number for number, month in enumerate(MONTHS, 1) for name in (month.lower(), month[:3].lower())} | {"sept": 9}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_SEASONS = {"spring": 5, "summer": 8, "autumn": 11, "fall": 11, "winter": 12, "christmas": 12}
_PARTS = {"start": 3, "beginning": 3, "early": 4, "middle": 7, "mid": 7}
_YEAR = r"(?P<year>(?:1[89]|20|21)\d\d)(?![\d%s])(?!-[A-Za-z])"
_RANGE = r"(?=\s+(?:the\s+)?(?:period\s+|years\s+)?(?:from\s+)?\d{4}\s*(?:[–—-]|to)\s*\d)"
# A number of these is an amount, and a year before them too: "by 2000 tonnes".
_UNITS = r"tonnes|tons|met(?:re|er)s|miles|kilomet(?:re|er)s|km|kg|dollars|euros|points|feet|hours|days|mAh|MW|percent|per\s+cent"
_BEHIND = rf"""\b(?:by|in|on|before|until|till|through|during|between|as\s+early\s+as|no\s+later\s+than|around|towards?|from
    |(?:starting|beginning)(?:\s+(?:in|from|on))?|effective(?:\s+from)?|for|(?:over|within){_RANGE}
    |(?<=decade\s)to|(?<=years\s)to|(?<=,\s)to)\s+(?:the\s+)?(?:period\s+(?:from\s+)?)?"""
_PART = r"(?:(?P<part>(?:very\s+)?end|close|start|beginning|middle|course|early|late|mid)[\s-]*(?:(?:of|in)\s+)?(?:the\s+)?)?"
_WITHIN = rf"""(?:(?P<season>spring|summer|autumn|fall|winter|christmas)\s+(?:of\s+)?
    |(?P<nth>first|second|third|fourth|last|[1-4](?:st|nd|rd|th))\s+(?P<what>quarter|half)\s+of\s+
    |(?:[a-z]+\s+(?:week|days|weeks)\s+of\s+)?(?P<month2>{_MONTH})\.?\s+(?:(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?(?:of\s+)?
    |[QH](?P<q1>[1-4])\s*(?:of\s+)?|(?P<half>[12])H\s?
    |(?P<day1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month1>{_MONTH})\.?,?\s+)?"""
_TO_LAST = r"(?:\s*(?:[–—-]|to|and|through|until)\s*(?P<last>(?:1[89]|20|21)\d\d)(?![\d%])|[–—/-](?P<short>\d\d)(?![\d%]|-\d))?"
_DATED = re.compile(
    rf"""{_BEHIND}{_PART}{_WITHIN}(?:fiscal\s+(?:year\s+)?|FY\s?|the\s+years?\s+|years?\s+)?{_YEAR}
    (?:\s?[QH](?P<q2>[1-4])|-(?P<month3>\d\d)-(?P<day3>\d\d))?{_TO_LAST}(?!\s+(?:{_UNITS})\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_AUXILIARY = r"(?:will|is|are|looks?|seems?|promises|could|may|might|should)"
_SUBJECT = re.compile(rf"(?:^|(?<=[,;:*]\s)|(?<=\n))\W*(?:the\s+year\s+)?{_YEAR}(?=\s+{_AUXILIARY}\b)", re.IGNORECASE)
# What happens once happens in the year it is named by: "the 2024 Games will be held".
_EVENT = re.compile(
    rf"\b{_YEAR}\s+(?:[\w’'-]+\s+){{1,4}}?(?={_AUXILIARY}\s+(?:\w+\s+to\s+)?(?:be\s+(?:held|hosted|staged)|take\s+place|kick\s+off)\b)"
)
_UPCOMING = re.compile(rf"\b(?:upcoming|forthcoming|coming|next)\s+(?:[a-z]+\s+)?{_YEAR}", re.IGNORECASE)
_PAST = re.compile(r"\blast\s+(?:year|month|quarter|week)\b", re.IGNORECASE)
_NEXT = re.compile(
    r"\b(?:next|this)\s+(?:year|month|quarter|week|decade|winter|spring|summer|autumn)\b|\blater\s+this\b", re.IGNORECASE
)


def find_english_periods(text: str, written: date) -> Iterator[Period]:
    """Yield the periods, in no order; relative ones count from the day the text was written."""
    for found in _DATED.finditer(text):
        if (until := _find_end(found)) is not None:
            yield Period(found.start(), found.end(), until)
    for pattern in (_SUBJECT, _EVENT, _UPCOMING):
        yield from (
            Period(found.start("year"), found.end("year"), date(int(found["year"]), 12, 31)) for found in pattern.finditer(text)
        )
    yield from list_relative_periods(_PAST, text, written - timedelta(days=1))
    yield from list_relative_periods(_NEXT, text, written + timedelta(days=1))


def _find_end(found: re.Match[str]) -> date | None:
    """Return the last day of what an expression names."""
    year = int(found["year"])
    if found["last"] or (found["short"] and int(found["short"]) > year % 100):
        return find_last_day(int(found["last"] or year // 100 * 100 + int(found["short"])), 12)
    if month := found["month1"] or found["month2"]:
        return find_last_day(year, _MONTHS[month.lower()], int(found["day1"] or found["day2"] or 0))
    if found["month3"]:
        return find_last_day(year, int(found["month3"]), int(found["day3"]))
    if found["q1"] or found["q2"] or found["half"] or found["nth"]:
        return _find_end_of_part(found, year)
    if found["season"]:
        return find_last_day(year, _SEASONS[found["season"].lower()])
    if found.group().lower().startswith("before") and not found["part"]:
        return date(year - 1, 12, 31)
    return find_last_day(year, _PARTS.get((found["part"] or "").lower(), 12))


def _find_end_of_part(found: re.Match[str], year: int) -> date | None:
    """Return the last day of a quarter or a half of a year."""
    halves = bool(found["half"]) or (found["what"] or "").lower() == "half" or "H" in _letters_of(found)
    number = int(found["q1"] or found["q2"] or found["half"] or _ORDINALS[found["nth"].lower()])
    return find_last_day(year, min(12, (6 if halves else 3) * number))


def _letters_of(found: re.Match[str]) -> str:
    group = "q1" if found["q1"] else "q2"
    return found.string[found.start(group) - 1].upper() if found[group] else ""
