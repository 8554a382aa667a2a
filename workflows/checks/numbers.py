"""Numbers of a text as values: the same value however it is written, in digits, words or with a scale; per cent apart."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_DIGITS = re.compile(
    r"(?<![^\W\u3400-\u9fff\uf900-\ufaff])(?<!\.)(\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:[.·]\d+)?)"
    r"\s*(%|％|percent\b|per cent\b|million\b|billion\b|thousand\b|万|亿)?",
    re.IGNORECASE,
)
_SMALL = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen twenty"
)
_ORDINALS = "third fourth fifth sixth seventh eighth ninth tenth"
_TENS = "thirty forty fifty sixty seventy eighty ninety hundred"


def _counted(words: str, start: int) -> dict[str, float]:
    return {word: float(value) for value, word in enumerate(words.split(), start)}


# Not "one", "first" and "second": they mostly mean something else than a number.
_VALUES = (
    _counted(_SMALL, 2)
    | _counted(_ORDINALS, 3)
    | {word: 10 * tens for word, tens in _counted(_TENS, 3).items()}
    | {"twice": 2.0, "double": 2.0, "half": 0.5}
)
_ORDINAL = re.compile(r"\b(\d{1,4})(?:st|nd|rd|th)\b", re.IGNORECASE)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "万": 1e4, "亿": 1e8}
_ANY_DIGIT = re.compile(r"\d")


class Number(NamedTuple):
    """A value; `unit` is `%` or empty."""

    value: float
    unit: str


def numbers_of(text: str, words: Sequence[str] = ()) -> tuple[Number, ...]:
    """The numbers of a text: those in digits, then ordinals, then those in words; `words` are its words in lower case."""
    spelled = [Number(_VALUES[word], "") for word in words if word in _VALUES]
    if not _ANY_DIGIT.search(text):
        return tuple(spelled)
    found = [_in_digits(match) for match in _DIGITS.finditer(text)]
    found += [Number(float(match.group(1)), "") for match in _ORDINAL.finditer(text)]
    return tuple(found + spelled)


def _in_digits(match: re.Match[str]) -> Number:
    value = float(re.sub(r"[, ]", "", match.group(1)).replace("·", "."))
    unit = (match.group(2) or "").lower()
    if unit in _SCALES:
        return Number(value * _SCALES[unit], "")
    return Number(value, "%" if unit else "")
