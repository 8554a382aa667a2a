"""What a finished graph query says, against what its conditions demand: language, links, years, clues that were weakened.

Words and numbers are read from the row's JSON; nothing is shared with the making.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from retrieval.language.traditional import simplify

Row = Mapping[str, Any]
STEM = 4
_IDEOGRAPH = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LATIN_WORD = re.compile(r"[a-z]{3,}")
_YEAR = re.compile(r"(?<![\d.,])\d{3,4}(?!\d)(?!s\b)(?!\s*年代)")
_DECADE = re.compile(r"(?<!\d)(\d{3,4})(?:s\b|\s*年代)")
_CENTURY_DECADE = re.compile(r"(\d{1,2})世纪(\d)0年代")


def fold_text(text: str) -> str:
    """Return a text without case and accents, in simplified ideographs."""
    plain = unicodedata.normalize("NFKD", simplify(text).lower())
    return "".join(char for char in plain if not unicodedata.combining(char)).replace("’", "'").replace("–", "-")


def check_wording(row: Row) -> Iterator[str]:
    """The question is in the row's language; phrases say links and years; no year is said that was weakened."""
    for asked in ("query", "request"):
        if _is_chinese(row[asked]) is not (row["language"] == "zh"):
            yield f"the {asked} is in another language"
    for condition in row["conditions"]:
        if condition["kind"] == "linked" and condition["passage"] and not _shares_words(condition):
            yield f"the phrase of link {condition['id']} is not in its sentence"
        if condition["kind"] == "year" and not _says_year(condition):
            yield f"the phrase of {condition['id']} says another year"
    yield from _find_strong_clues(row)


def _is_chinese(text: str) -> bool:
    return len(_IDEOGRAPH.findall(text)) > len(_LATIN_WORD.findall(text.lower()))


def _shares_words(condition: Row) -> bool:
    """Say whether the phrase has the beginning of a word, or two ideographs in a row, that the sentence has."""
    phrase, sentence = fold_text(condition["phrase"]), fold_text(condition["passage"]["text"])
    pairs = [phrase[n : n + 2] for n in range(len(phrase) - 1)]
    pieces = [word[:STEM] for word in _LATIN_WORD.findall(phrase)] + [p for p in pairs if len(_IDEOGRAPH.findall(p)) > 1]
    return any(piece in sentence for piece in pieces)


def _list_years(text: str) -> list[int]:
    """Return the years of a text, and the first years of its decades."""
    decades = [(int(century) - 1) * 100 + int(decade) * 10 for century, decade in _CENTURY_DECADE.findall(text)]
    return [*map(int, _YEAR.findall(text)), *map(int, _DECADE.findall(text)), *decades]


def _says_year(condition: Row) -> bool:
    return any(condition["low"] <= year <= condition["high"] for year in _list_years(condition["phrase"]))


def _find_strong_clues(row: Row) -> Iterator[str]:
    """A year that a sentence states exactly is not in the question where its condition only bounds it."""
    exact = {year for c in row["conditions"] if c["kind"] == "year" for year in (c["low"], c["high"])}
    said = {int(year) for year in _YEAR.findall(row["query"])} - exact
    for condition in row["conditions"]:
        if condition["kind"] == "year" and condition["low"] < condition["high"] and condition["passage"]:
            stated = said & set(map(int, _YEAR.findall(condition["passage"]["text"])))
            yield from (f"the question still says {year}" for year in stated if condition["low"] <= year <= condition["high"])
