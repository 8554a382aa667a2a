"""Periods as Chinese sentences name them: 2024年第三季度, 2025年上半年, 2020—2025年, 明年."""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from retrieval.language.period import Period, find_last_day, list_relative_periods

_NUMERALS = {"一": 1, "二": 2, "三": 3, "四": 4, "上": 1, "下": 2}
_DATED = re.compile(
    r"(?P<year>(?:1[89]|20|21)\d\d)(?:年)?"
    r"(?:\s*(?:至|到|—|–|-|~|～)\s*(?P<last>(?:1[89]|20|21)\d\d))?"
    r"(?:财)?年(?:第?(?P<q>[一二三四1-4])(?:季度|季)|(?P<half>[上下])半年|(?P<month>1[0-2]|0?[1-9])月(?:(?P<day>[12]?\d|3[01])日)?"
    r"|(?P<season>春季|夏季|秋季|冬季)|(?P<part>年?[初中末底]|全年)|Q(?P<q3>[1-4]))?"
    r"|(?P<year2>(?:1[89]|20|21)\d\d)\s?Q(?P<q4>[1-4])"
)
_NAMED = re.compile(r"\s?(?:代|版|届|规划|计划(?=将)|的?(?:数据|条约|预测|法律|战略|报告)|以来|以前|之后|后)")
_PAST = re.compile(r"去年|前年|上个?(?:年|月|季度)")
_NEXT = re.compile(r"(?:明|后|今|本)年(?:底|初)?")
_SEASONS = {"春季": 5, "夏季": 8, "秋季": 11, "冬季": 12}
_PARTS = {"初": 3, "中": 7}


def find_chinese_periods(text: str, written: date) -> Iterator[Period]:
    """Yield the periods, in no order; relative ones count from the day the text was written."""
    for found in _DATED.finditer(text):
        if not _NAMED.match(text, found.end()) and (until := _find_end(found)) is not None:
            yield Period(found.start(), found.end(), until)
    yield from list_relative_periods(_PAST, text, written - timedelta(days=1))
    yield from list_relative_periods(_NEXT, text, written + timedelta(days=1))


def _find_end(found: re.Match[str]) -> date | None:
    year = int(found["year"] or found["year2"])
    if found["last"]:
        return find_last_day(int(found["last"]), 12)
    if quarter := found["q"] or found["q3"] or found["q4"]:
        return find_last_day(year, 3 * _NUMERALS.get(quarter, int(quarter) if quarter.isdigit() else 0))
    if found["half"]:
        return find_last_day(year, 6 * _NUMERALS[found["half"]])
    if found["month"]:
        return find_last_day(year, int(found["month"]), int(found["day"] or 0))
    if found["season"]:
        return find_last_day(year, _SEASONS[found["season"]])
    return find_last_day(year, _PARTS.get((found["part"] or " ")[-1], 12))
