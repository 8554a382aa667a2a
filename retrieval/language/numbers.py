"""Numbers of a text as values: the same value however it is written, in digits, words or with a scale; per cent apart."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from app.domain.written_numbers import find_numbers
from retrieval.language.word_lists import read_lists

_PERCENT = re.compile(r"\s*(?:%|％|percent\b|per cent\b|prozent\b|pour cent\b)", re.IGNORECASE)
_ORDINAL = re.compile(r"\b(\d{1,4})(?:st|nd|rd|th)\b", re.IGNORECASE)
_LISTS = read_lists("numbers.toml")
_VALUES = (
    {word: float(value) for value, word in enumerate(_LISTS["from_two"], 2)}
    | {word: float(value) for value, word in enumerate(_LISTS["from_third"], 3)}
    | {word: 10.0 * tens for tens, word in enumerate(_LISTS["tens_from_thirty"], 3)}
    | {"twice": 2.0, "double": 2.0, "half": 0.5}
)
_CHINESE_DIGITS = "".join(_LISTS["chinese_digits"])


class Number(NamedTuple):
    """A value; `unit` is `%` or empty."""

    value: float
    unit: str


def read_numbers(text: str, words: Sequence[str] = ()) -> tuple[Number, ...]:
    """Read the numbers of a text: those in digits, then ordinals, then those in words; `words` are its words in lower case."""
    spelled = [Number(_VALUES[word], "") for word in words if word in _VALUES]
    found = [Number(each.value, "%" if _PERCENT.match(text, each.end) else "") for each in find_numbers(text)]
    found += [Number(float(match.group(1)), "") for match in _ORDINAL.finditer(text)]
    return tuple(found + spelled)


def read_chinese_numeral(numeral: str) -> int:
    """Read a Chinese numeral up to 99, such as 十二; one without 十 is read digit by digit. What is no digit counts as zero."""
    tens, has_ten, ones = numeral.partition("十")
    if not has_ten:
        return int("".join(str(_chinese_digit(digit)) for digit in numeral) or "0")
    return (_chinese_digit(tens[0]) if tens else 1) * 10 + _chinese_digit(ones[:1])


def _chinese_digit(digit: str) -> int:
    return max(0, _CHINESE_DIGITS.find(digit)) if digit else 0
