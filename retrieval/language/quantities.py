"""Quantities of a text with their places: values with units, dates by year, month and day, and ordinals, in English and Chinese.

`numbers.py` reads bare values, as features need them; this reads what a number counts, so that 5 km is 5,000 metres and not 5
miles.
"""

import re
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from app.domain.dates import MONTHS
from app.domain.script import IDEOGRAPHS
from app.domain.units import UNITS, Unit
from app.domain.written_numbers import find_numbers, read_number_at, read_scale
from retrieval.language.spelled_numbers import SCALES, WORDS, read_spelled_numbers, read_values
from retrieval.language.traditional import simplify


class QuantityKind(StrEnum):
    """What a number says."""

    AMOUNT = "amount"
    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    ORDINAL = "ordinal"


class Quantity(NamedTuple):
    """A number at `[start, end)`; the unit of an amount is the name of its base unit, in which the value is; it may be empty.

    `written` is the value in the unit that is written.
    """

    kind: QuantityKind
    value: float
    unit: str
    start: int
    end: int
    written: float = 0.0


_LISTS = tomllib.loads(files("retrieval.language").joinpath("quantities.toml").read_text(encoding="utf-8"))


_ORDINALS, _FRACTIONS = read_values(_LISTS["values"]["ordinals"]), read_values(_LISTS["values"]["fractions"])
_DIGITS = {pair[0]: int(pair[1]) for pair in _LISTS["chinese"]["digits"].split()}
_CHINESE_SCALES = {pair[0]: float(pair[1:]) for pair in _LISTS["chinese"]["scales"].split()}


_AFTER = "|".join(re.escape(alias) for alias in sorted(UNITS, key=len, reverse=True))
_UNIT = re.compile(rf"[\s-]?(?:({_AFTER})(?![a-z])|(?=[{IDEOGRAPHS}]))", re.IGNORECASE)
_CHINESE_UNIT = re.compile(
    rf"\s?({'|'.join(re.escape(alias) for alias in sorted((a for a in UNITS if not a.isascii()), key=len, reverse=True))})"
)
_SIGN = re.compile(r"(us\$|[$€£¥])\s?$", re.IGNORECASE)
_MONTH_NAMES = {name: number for number, month in enumerate(MONTHS, 1) for name in (month, month[:3])} | {"Sept": 9}
_MONTH = re.compile(rf"\b({'|'.join(sorted(_MONTH_NAMES, key=len, reverse=True))})\b\.?")
_MAY = re.compile(r"(?:\b(?:in|of|by|since|until|early|late|mid|on|and|to|from|\d{1,2}|–|-)[\s-]*$)|^\s*$")
_DAY_BEFORE = re.compile(r"(?<![\d.,])(\d{1,2})(?:st|nd|rd|th)?(?: of)? $")
_DAY_AFTER = re.compile(r" (\d{1,2})(?:st|nd|rd|th)?(?![\d:]|,\d{3}| (?:percent|per cent|million))")
_CHINESE_NUMERAL = "零〇一二两三四五六七八九十百千万亿兆"
_CHINESE_DATE = re.compile(
    rf"(?<!\d)(\d{{1,2}}|[{_CHINESE_NUMERAL}]{{1,3}})(月(?!球|亮|经|饼|台)|日(?!本|报|军|圆|元|语|文|常|益))"
)
_CHINESE_YEAR = re.compile(r"(?<!\d)(\d{4}|[零〇一二三四五六七八九]{4})(?:年|\s*[-–—至]\s*\d{4}年)")
_CHINESE_DECADE = re.compile(rf"(?<!\d)(\d{{1,2}}|[{_CHINESE_NUMERAL}]{{1,3}})世纪(\d0|[二三四五六七八九]?十)年代")
_END_OF_YEARS = re.compile(r"(?:–(\d\d)|[-/](1[3-9]|[2-9]\d))(?![\d%]|[-–/]\d)")
_YEAR = re.compile(
    r"(?<![\d.,$£€])(1[0-9]\d\d|20\d\d)(?![\d%]|,\d|\.\d)(?!\s?(?:km|m|people|men|metres|meters|kg|tons|tonnes|feet|人|米|名|个|元)\b)"
)
_AFTER_NAME = re.compile(r"[A-Za-z]-$")
_ORDINAL_DIGITS = re.compile(r"(?<![A-Za-z0-9_.])(\d{1,3})(?:st|nd|rd|th)\b", re.IGNORECASE)
_ORDINAL_WORD = re.compile(
    rf"(?<!at )\b(?:(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-)?({'|'.join(_ORDINALS)})\b(?! of all)", re.IGNORECASE
)
_ROMAN = re.compile(r"(?<=[a-z] )(I{1,3}|IV|VI{0,3}|IX|XI{0,3}|XIV|XVI{0,3}|X)\b(?!\.? [A-Z])")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10}
_ORDINAL_ZH = re.compile(
    rf"第([{_CHINESE_NUMERAL}]+|\d+)|([{_CHINESE_NUMERAL}]+|\d+)(?=世纪)|(?<![年本])首(?=次|位|个|任|届|家|座|部|名|条|支|艘|枚)"
)
# "And a half" belongs to the number or the unit before it, and is no share: two and a half, a year and a half.
_FRACTION = re.compile(
    rf"\b(?:((?<!\band[\s-])(?:an?|one)|two|three|four)[\s-]+)"
    rf"({'|'.join(_FRACTIONS)})\b(?! (?:time|place|century|floor|edition|season|day|year))"
    r"|\b(?<!\band[\s-]a[\s-])(?<!\band[\s-]one[\s-])(half)\b(?! an? )",
    re.IGNORECASE,
)
_HALF_OF_UNIT = re.compile(
    r"\bhalf an? (year|hour|day|month|century|decade|mile|kilometre|kilometer|million|dozen)\b|半(年|小时|个小时|天|个月)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s?(?:to|–|-|—|至|到|~|～)\s?")
_FRACTION_ZH = re.compile(
    rf"([{_CHINESE_NUMERAL}\d]+)分之([{_CHINESE_NUMERAL}\d.]+)|([一二两三四五六七八九])成([一二三四五六七八九])?|一半|半数"
)
_NUMBER_ZH = re.compile(rf"[{_CHINESE_NUMERAL}]+(?=[{_LISTS['chinese']['counters']}])")
_BEFORE_NO_NUMBER = re.compile(r"[第周十]$|星期$")
_MORE_THAN_ONE = re.compile(r"[二两三四五六七八九十百千万亿]")


def read_quantities(text: str) -> tuple[Quantity, ...]:
    """Read the quantities of a text in order. They do not overlap."""
    return _read_simplified(simplify(text))


@lru_cache(maxsize=1_024)
def _read_simplified(text: str) -> tuple[Quantity, ...]:
    taken: list[Quantity] = []
    for reader in (_read_months, _read_chinese_dates, _read_fractions, _read_ordinals, _read_years, _read_digits, _read_spelled):
        free = [one for one in reader(text) if not any(one.start < other.end and other.start < one.end for other in taken)]
        taken += free
    return tuple(sorted(taken, key=lambda quantity: quantity.start))


def _read_months(text: str) -> Iterator[Quantity]:
    for found in _MONTH.finditer(text):
        if found.group(1) in ("May", "Mar", "Dec", "Jan") and not _is_month(text, found):
            continue
        yield Quantity(QuantityKind.MONTH, _MONTH_NAMES[found.group(1)], "", *found.span())
        if day := _DAY_BEFORE.search(text[max(0, found.start() - 12) : found.start()]):
            start = max(0, found.start() - 12) + day.start(1)
            yield Quantity(QuantityKind.DAY, float(day.group(1)), "", start, found.start())
        elif day := _DAY_AFTER.match(text, found.end()):
            yield Quantity(QuantityKind.DAY, float(day.group(1)), "", *day.span(1))


def _is_month(text: str, found: re.Match[str]) -> bool:
    before = text[max(0, found.start() - 8) : found.start()]
    return bool(_MAY.search(before)) or text[found.end() : found.end() + 2].strip()[:1].isdigit()


def _read_chinese_dates(text: str) -> Iterator[Quantity]:
    for found in _CHINESE_DECADE.finditer(text):
        century, decade = map(_read_chinese, found.groups())
        yield Quantity(QuantityKind.YEAR, 100 * (century - 1) + decade, "", *found.span())
    for found in _CHINESE_YEAR.finditer(text):
        yield Quantity(QuantityKind.YEAR, _read_digits_of(found.group(1)), "", *found.span(1))
    for found in _CHINESE_DATE.finditer(text):
        kind = QuantityKind.MONTH if found.group(2) == "月" else QuantityKind.DAY
        if text[found.start() - 1 : found.start()] != "个":
            yield Quantity(kind, _read_chinese(found.group(1)), "", *found.span())


def _read_digits_of(numeral: str) -> float:
    return float("".join(str(_DIGITS.get(char, char)) for char in numeral))


def _read_years(text: str) -> Iterator[Quantity]:
    for found in _YEAR.finditer(text):
        unit = _UNIT.match(text, found.end())
        named = unit and unit.group(1) and unit.group(1).lower() not in ("s", "h", "m", "t", "g", "年")
        if not named and read_scale(text, found.end())[0] == 1.0:
            yield Quantity(QuantityKind.YEAR, float(found.group(1)), "", *found.span())
            yield from _read_end_of_years(text, int(found.group(1)), found.end())


def _read_end_of_years(text: str, first: int, start: int) -> Iterator[Quantity]:
    """Yield the last year of "2019–21". Behind a hyphen, what may be a month is none."""
    found = _END_OF_YEARS.match(text, start)
    last = first - first % 100 + int(found.group(1) or found.group(2)) if found else 0
    if found and last > first:
        yield Quantity(QuantityKind.YEAR, float(last), "", found.start() + 1, found.end())


def _read_ordinals(text: str) -> Iterator[Quantity]:
    for found in _ORDINAL_DIGITS.finditer(text):
        yield Quantity(QuantityKind.ORDINAL, float(found.group(1)), "", *found.span())
    for found in _ORDINAL_WORD.finditer(text):
        tens = WORDS[found.group(1).lower()] if found.group(1) else 0.0
        yield Quantity(QuantityKind.ORDINAL, tens + _ORDINALS[found.group(2).lower()], "", *found.span())
    for found in _ROMAN.finditer(text):
        yield Quantity(QuantityKind.ORDINAL, _read_roman(found.group()), "", *found.span())
    for found in _ORDINAL_ZH.finditer(text):
        numeral = found.group(1) or found.group(2)
        yield Quantity(QuantityKind.ORDINAL, _read_chinese(numeral) if numeral else 1.0, "", *found.span())


def _read_roman(numeral: str) -> float:
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    return float(sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True)))


def _read_fractions(text: str) -> Iterator[Quantity]:
    for found in _HALF_OF_UNIT.finditer(text):
        alias = (found.group(1) or found.group(2)).lower()
        unit = UNITS.get(alias) or Unit("", SCALES.get(alias, 1.0), "")
        yield Quantity(QuantityKind.AMOUNT, unit.factor / 2, unit.name, *found.span())
    for found in _FRACTION.finditer(text):
        count = 1.0 if found.group(3) else WORDS[found.group(1).lower()]
        share = 50.0 if found.group(3) else _FRACTIONS[found.group(2).lower()]
        yield Quantity(QuantityKind.AMOUNT, round(count * share, 1), "%", *found.span())
    for found in _FRACTION_ZH.finditer(text):
        whole, part, tenths, more = found.groups()
        value = 50.0
        if whole:
            value = 100 * _read_chinese(part) / (_read_chinese(whole) or 1)
        elif tenths:
            value = 10.0 * _DIGITS[tenths] + (_DIGITS[more] if more else 0)
        yield Quantity(QuantityKind.AMOUNT, round(value, 1), "%", *found.span())


def _read_digits(text: str) -> Iterator[Quantity]:
    for number in find_numbers(text):
        if not _AFTER_NAME.search(text[max(0, number.start - 2) : number.start]):
            own = _with_unit(text, number.value, number.start, number.end)
            yield _share_unit(text, own) if own.end == number.digits_end else own


def _share_unit(text: str, own: Quantity) -> Quantity:
    """Return the first number of a range ("3.1 to 4.2 million tonnes") in the unit of the second."""
    joint = _RANGE.match(text, own.end)
    second = read_number_at(text, joint.end()) if joint else None
    if second is None:
        return own
    other = _with_unit(text, second.value, second.start, second.end)
    factor = second.value / second.bare if second.bare else 1.0
    falls = factor > 1.0 and own.value > second.bare  # from 800 to 1.2 million
    if not second.bare or falls or (not other.unit and factor == 1.0):
        return own
    return own._replace(value=round(own.value * other.value / second.bare, 9), unit=other.unit, written=own.value * factor)


def _read_spelled(text: str) -> Iterator[Quantity]:
    for number in read_spelled_numbers(text):
        yield _with_unit(text, *number)
    for found in _NUMBER_ZH.finditer(text):
        if _MORE_THAN_ONE.search(found.group()) and not _BEFORE_NO_NUMBER.search(text[: found.start()][-2:]):
            yield _with_unit(text, _read_chinese(found.group()), *found.span())


def _read_chinese(numeral: str) -> float:
    """Read digits or a Chinese numeral: with scales, or digit by digit."""
    if re.fullmatch(r"[\d.]+", numeral):
        return float(numeral)
    if not any(char in _CHINESE_SCALES for char in numeral):
        return _read_digits_of(numeral) if all(char in _DIGITS for char in numeral) else 0.0
    total = section = digit = 0.0
    for char in numeral:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif (scale := _CHINESE_SCALES.get(char, 1.0)) >= 10_000:
            total, section, digit = total + (section + digit or 1.0) * scale, 0.0, 0.0
        else:
            section, digit = section + (digit or 1.0) * scale, 0.0
    return total + section + digit


def _with_unit(text: str, value: float, start: int, end: int) -> Quantity:
    """Return the amount in its base unit, with the unit that follows it, or the sign of a currency before it."""
    if sign := _SIGN.search(text[max(0, start - 4) : start]):
        return Quantity(QuantityKind.AMOUNT, value, UNITS[sign.group(1).lower()].name, start, end, value)
    found = _UNIT.match(text, end)
    alias = found.group(1) if found and found.group(1) else None
    if alias is None and (found := _CHINESE_UNIT.match(text, end)):
        alias = found.group(1)
    if alias is None or found is None:
        return Quantity(QuantityKind.AMOUNT, value, "", start, end, value)
    unit = UNITS[alias.lower()]
    return Quantity(QuantityKind.AMOUNT, round(value * unit.factor, 9), unit.name, start, found.end(), value)
