"""Stretches of time that a sentence names, each with the day on which it is over: "by mid-2025", "in 2024Q3", "2024年第三季度".

Only expressions that place an event are found: a year behind a preposition ("in 2024", "by the end of 2024"), not one that names
something ("the 2024 edition"). A range counts by its end.
"""

import calendar
import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from app.domain.dates import MONTHS


class Period(NamedTuple):
    """`[start, end)` in the text, and the last day of what is named."""

    start: int
    end: int
    until: date


_MONTHS = {name: number for number, month in enumerate(MONTHS, 1) for name in (month.lower(), month[:3].lower())}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_SEASONS = {"spring": 5, "summer": 8, "autumn": 11, "fall": 11, "winter": 12}
_YEAR = r"(?P<year>(?:1[89]|20|21)\d\d)(?![\d%s])(?!-[A-Za-z])"
_ENGLISH = re.compile(
    rf"""\b(?:by|in|on|before|until|till|through|during|over|within|between|as\s+early\s+as)\s+
    (?:the\s+)?(?:(?P<part>(?:very\s+)?end|close|start|beginning|middle|early|late|mid)[\s-]*(?:of\s+)?(?:the\s+)?)?
    (?:(?P<season>spring|summer|autumn|fall|winter)\s+(?:of\s+)?
      |(?P<nth>first|second|third|fourth|[1-4](?:st|nd|rd|th))\s+(?P<what>quarter|half)\s+of\s+(?:fiscal\s+)?
      |[QH](?P<q1>[1-4])\s*(?:of\s+)?
      |(?P<day1>\d{{1,2}})\s+(?P<month1>{_MONTH})\.?,?\s+
      |(?P<month2>{_MONTH})\.?\s+(?:(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?(?:of\s+)?
    )?
    (?:fiscal\s+(?:year\s+)?|FY\s?|the\s+year\s+)?{_YEAR}
    (?:\s?(?:[QH])(?P<q2>[1-4]))?
    (?:\s*(?:[–—-]|to|and|through|until)\s*(?P<last>(?:1[89]|20|21)\d\d|\d\d)(?!\d))?""",
    re.VERBOSE | re.IGNORECASE,
)
_ENGLISH_PAST = re.compile(r"\blast\s+(?P<unit>year|month|quarter|week)\b", re.IGNORECASE)
_ENGLISH_NEXT = re.compile(r"\b(?:next|this)\s+(?:year|month|quarter|week|decade)\b", re.IGNORECASE)
_NUMERALS = {"一": 1, "二": 2, "三": 3, "四": 4, "上": 1, "下": 2}
_CHINESE = re.compile(
    r"(?P<year>(?:1[89]|20|21)\d\d)(?:年)?"
    r"(?:\s*(?:至|到|—|–|-|~|～)\s*(?P<last>(?:1[89]|20|21)\d\d))?"
    r"(?:财)?年(?:第?(?P<q>[一二三四1-4])(?:季度|季)|(?P<half>[上下])半年|(?P<month>1[0-2]|0?[1-9])月(?:(?P<day>[12]?\d|3[01])日)?"
    r"|(?P<season>春季|夏季|秋季|冬季)|(?P<part>年?[初中末底]|全年)|Q(?P<q3>[1-4]))?"
    r"|(?P<year2>(?:1[89]|20|21)\d\d)\s?Q(?P<q4>[1-4])"
)
_CHINESE_NAMED = re.compile(r"\s?(?:版|规划|计划(?=将)|的?(?:数据|条约|预测|法律|战略|报告)|以来|以前|之后|后)")
_CHINESE_PAST = re.compile(r"去年|前年|上个?(?:年|月|季度)")
_CHINESE_NEXT = re.compile(r"(?:明|后|今|本)年(?:底|初)?")
_CHINESE_SEASONS = {"春季": 5, "夏季": 8, "秋季": 11, "冬季": 12}
_PARTS = {"start": 3, "beginning": 3, "early": 4, "middle": 7, "mid": 7}
_CHINESE_PARTS = {"初": 3, "中": 7}


def find_periods(text: str, written: date) -> list[Period]:
    """Return the periods a text names, in order; relative ones count from the day it was written."""
    found = sorted({*_english(text, written), *_chinese(text, written)})
    return [period for period in found if not any(_within(period, other) for other in found)]


def _within(period: Period, other: Period) -> bool:
    return period is not other and other.start <= period.start and period.end <= other.end


def _english(text: str, written: date) -> Iterator[Period]:
    for found in _ENGLISH.finditer(text):
        until = _last_day(found, int(found["year"]))
        if until is not None:
            yield Period(found.start(), found.end(), until)
    yield from _relative(_ENGLISH_PAST, text, written - timedelta(days=1))
    yield from _relative(_ENGLISH_NEXT, text, written + timedelta(days=1))


def _relative(pattern: re.Pattern[str], text: str, until: date) -> Iterator[Period]:
    return (Period(found.start(), found.end(), until) for found in pattern.finditer(text))


def _last_day(found: re.Match[str], year: int) -> date | None:
    """Return the last day of what an English expression names."""
    if found["last"]:
        return _end_of(int(found["last"]) if len(found["last"]) == 4 else year // 100 * 100 + int(found["last"]), 12)
    if re.match(r"before\s", found.group(), re.IGNORECASE) and not (found["month1"] or found["month2"] or found["part"]):
        return date(year - 1, 12, 31)
    month_name = found["month1"] or found["month2"]
    if month_name:
        return _end_of(year, _MONTHS[month_name.lower()], int(found["day1"] or found["day2"] or 0))
    if quarter := found["q1"] or found["q2"]:
        return _end_of(year, 3 * int(quarter))
    if found["nth"]:
        months = 3 if found["what"].lower() == "quarter" else 6
        return _end_of(year, min(12, months * _ORDINALS[found["nth"].lower()]))
    if found["season"]:
        return _end_of(year, _SEASONS[found["season"].lower()])
    return _end_of(year, _PARTS.get((found["part"] or "").lower(), 12))


def _chinese(text: str, written: date) -> Iterator[Period]:
    for found in _CHINESE.finditer(text):
        if not _CHINESE_NAMED.match(text, found.end()) and (until := _chinese_last_day(found)) is not None:
            yield Period(found.start(), found.end(), until)
    yield from _relative(_CHINESE_PAST, text, written - timedelta(days=1))
    yield from _relative(_CHINESE_NEXT, text, written + timedelta(days=1))


def _chinese_last_day(found: re.Match[str]) -> date | None:
    year = int(found["year"] or found["year2"])
    if found["last"]:
        return _end_of(int(found["last"]), 12)
    if quarter := found["q"] or found["q3"] or found["q4"]:
        return _end_of(year, 3 * _NUMERALS.get(quarter, int(quarter) if quarter.isdigit() else 0))
    if found["half"]:
        return _end_of(year, 6 * _NUMERALS[found["half"]])
    if found["month"]:
        return _end_of(year, int(found["month"]), int(found["day"] or 0))
    if found["season"]:
        return _end_of(year, _CHINESE_SEASONS[found["season"]])
    return _end_of(year, _CHINESE_PARTS.get((found["part"] or " ")[-1], 12))


def _end_of(year: int, month: int, day: int = 0) -> date | None:
    """Return that day, or the month's last; None for a day that no calendar has."""
    last = calendar.monthrange(year, month)[1] if 1 <= month <= 12 else 0
    return date(year, month, day or last) if 0 <= day <= last and last else None
