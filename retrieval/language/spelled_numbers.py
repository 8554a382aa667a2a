"""English numbers in words: twenty-five thousand, a hundred and fifty, forty millions, two and a half million, two dozen."""

import re
import tomllib
from importlib.resources import files
from typing import NamedTuple

_LISTS = tomllib.loads(files("retrieval.language").joinpath("quantities.toml").read_text(encoding="utf-8"))["values"]


def read_values(text: str) -> dict[str, float]:
    """Read a list of words with their values, such as "two=2 three=3"."""
    return {word: float(value) for word, value in (pair.split("=") for pair in text.split())}


WORDS, SCALES = read_values(_LISTS["en"]), read_values(_LISTS["scales"])
_HUNDRED = "hundred"


def _list_words(least: float, most: float) -> str:
    return "|".join(word for word, value in WORDS.items() if least <= value <= most and word not in ("a", "an"))


_LARGE = "|".join(scale for scale in SCALES if scale != _HUNDRED)
_BELOW_100 = rf"(?:(?:{_list_words(20, 90)})(?:[\s-]+(?:{_list_words(1, 9)}))?|{_list_words(0, 19)})\b"
_BELOW_1000 = (
    rf"(?:(?:(?:{_BELOW_100}|an?)[\s-]+)?{_HUNDRED}\b(?:[\s-]+(?:and[\s-]+)?{_BELOW_100}(?![\s-]+{_HUNDRED}))?|{_BELOW_100})"
)
_HALF = r"[\s-]+and[\s-]+(?:a|one)[\s-]+half\b"
_GROUP = re.compile(
    rf"\b(?:(?P<count>{_BELOW_1000}|an?(?=[\s-]+(?:{_LARGE})))(?P<half>{_HALF})?(?P<times>(?:[\s-]+(?:{_LARGE})s?\b)*)"
    rf"|(?P<alone>{_LARGE})\b)(?P<half_more>{_HALF})?",
    re.IGNORECASE,
)
_JOINT = re.compile(r"[\s-]+(?:and[\s-]+)?")


class SpelledNumber(NamedTuple):
    """A number at `[start, end)`."""

    value: float
    start: int
    end: int


def read_spelled_numbers(text: str) -> list[SpelledNumber]:
    """Read the numbers in words, in order; "one" alone is none. "Between twenty and thirty" has two."""
    numbers: list[SpelledNumber] = []
    room = 0.0
    for found in _GROUP.finditer(text):
        factor = _work_out(found["times"] or found["alone"] or "one")
        count = _work_out(found["count"] or "one") + (0.5 if found["half"] or found["half_more"] else 0.0)
        own = SpelledNumber(count * factor, *found.span())
        if own.value < room and _JOINT.fullmatch(text, numbers[-1].end, own.start):
            first = numbers.pop()
            own = SpelledNumber(first.value + own.value, first.start, own.end)
        numbers.append(own)
        room = factor
    return [number for number in numbers if number.value != 1]


def _work_out(words: str) -> float:
    """Return the value of up to three digits with scales behind them."""
    value = 0.0
    for word in re.findall(r"[a-z]+", words.lower()):
        scale = SCALES.get(word, SCALES.get(word.removesuffix("s")))
        value = value + WORDS.get(word, 0.0) if scale is None else (value or 1.0) * scale
    return value
