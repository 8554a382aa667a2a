"""Dates to the day, or to the month, wherever they stand in a text: English, Chinese, German, French, and in digits."""

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from app.domain.dates import MONTHS
from retrieval.language.numbers import read_chinese_numeral

_GERMAN = "januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "dezember"
_FRENCH = "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"
_ENGLISH = tuple(month.lower() for month in MONTHS)
_SHORT = {month[:3]: number for number, month in enumerate(_ENGLISH, 1)} | {"sept": 9}
_MONTHS = _SHORT | {name: number for names in (_ENGLISH, _GERMAN, _FRENCH) for number, name in enumerate(names, 1)}
_NAME = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"(?:1[5-9]|20|21)\d\d"
_DIGIT = "[〇零一二三四五六七八九]"
_TENS = "[一二三四五六七八九十]{1,3}"
_DATE = re.compile(  # the name of a file may join words by underscores
    rf"""(?<![A-Za-zÀ-ɏ\d])(?<!\d\.)(?:
      (?:(?P<d1>[0-3]?\d)(?:st|nd|rd|th|er|\.)?[\s_-]+(?:of\s+)?)?(?P<m1>{_NAME})(?![^\W\d_])\.?,?[\s_-]+(?:of\s+)?(?P<y1>{_YEAR})
    | (?P<m2>{_NAME})(?![^\W\d_])\.?[\s_-]+(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?,?[\s_-]+(?P<y2>{_YEAR})
    | (?P<y3>{_YEAR})(?P<mark>[-/._])(?P<m3>[01]?\d)(?:(?P=mark)(?P<d3>[0-3]?\d))?(?!(?P=mark)?\d)
    | (?P<d4>[0-3]?\d)\.\s?(?P<m4>[01]?\d)\.\s?(?P<y4>{_YEAR})
    | (?P<y5>{_YEAR})(?P<m5>[01]\d)(?P<d5>[0-3]\d)
    | (?P<y6>{_YEAR})\s?年\s?(?P<m6>1?\d)\s?月(?:\s?(?P<d6>[123]?\d)\s?[日号號])?
    | (?P<y7>{_DIGIT}{{4}})年(?P<m7>{_TENS})月(?:(?P<d7>{_TENS})[日号號])?
    )(?!\.?\d|(?<=[a-z\d])[A-Za-z])""",
    re.VERBOSE | re.IGNORECASE,
)


class WrittenDate(NamedTuple):
    """A date at `[start, end)` of a text; one of a month is its first day."""

    start: int
    end: int
    day: date


def find_written_dates(text: str) -> Iterator[WrittenDate]:
    """Yield the dates of a text in order. A year alone is none, nor are digits whose order nobody knows, such as 03/04/2024."""
    for found in _DATE.finditer(text):
        year, month, day = (
            next((found[f"{part}{form}"] for form in range(1, 8) if found.groupdict().get(f"{part}{form}")), "") for part in "ymd"
        )
        try:
            yield WrittenDate(*found.span(), date(_read_number(year), _read_number(month), _read_number(day or "1")))
        except ValueError:
            continue


def _read_number(written: str) -> int:
    return int(written) if written.isdigit() else _MONTHS.get(written.lower()) or read_chinese_numeral(written)
