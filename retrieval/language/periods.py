"""Stretches of time that a sentence names, each with the day on which it is over: "by mid-2025", "in 2024Q3", "2024年第三季度".

Only expressions that place an event are found: a year behind a preposition ("in 2024", "by the end of 2024") or as a subject
("2024 will be"), not one that names something ("the 2024 edition", "Vision 2030"). A range counts by its end.
"""

from datetime import date

from retrieval.language.chinese_periods import find_chinese_periods
from retrieval.language.english_periods import find_english_periods
from retrieval.language.period import Period

__all__ = ["Period", "find_periods"]


def find_periods(text: str, written: date) -> list[Period]:
    """Return the periods a text names, in order; relative ones count from the day it was written."""
    found = sorted({*find_english_periods(text, written), *find_chinese_periods(text, written)})
    return [period for period in found if not any(_lies_within(period, other) for other in found)]


def _lies_within(period: Period, other: Period) -> bool:
    return period is not other and other.start <= period.start and period.end <= other.end
