"""Words as texts are compared by them: English stemmed, Chinese cut into pairs of ideographs."""

import re
from functools import lru_cache
from typing import NamedTuple

from app.domain.script import IDEOGRAPHS, is_ideograph
from retrieval.language.stems import stem_word
from retrieval.language.stop_words import split_at_stop_words

_WORD = re.compile(
    rf"[{IDEOGRAPHS}]+|\d+(?:[.,]\d+)*"
    rf"|[^\W\d_{IDEOGRAPHS}](?:(?:[^\W{IDEOGRAPHS}]|[/+-])*[^\W_{IDEOGRAPHS}])?(?:['’][^\W\d_{IDEOGRAPHS}]+)?"
)
_ASCII_WORD = re.compile(r"\d+(?:[.,]\d+)*|[a-z](?:[a-z0-9_/+-]*[a-z0-9])?(?:['’][a-z]+)?", re.ASCII)
_OTHER_LETTER = re.compile(r"[^\W\x00-\x7f]")
_UNIT = re.compile(rf"[{IDEOGRAPHS}]|[^\W_{IDEOGRAPHS}]+")
_ASCII_GAPS = str.maketrans({code: " " for code in range(128) if not chr(code).isalnum()})


class Word(NamedTuple):
    """A word in lower case, and its stem, which is empty for a stop word."""

    text: str
    stem: str

    @property
    def key(self) -> str:
        """What word lists name it by."""
        return self.stem or self.text


@lru_cache(maxsize=65_536)
def _word(lower: str) -> Word:
    return Word(lower, stem_word(lower))


def split_words(text: str) -> list[Word]:
    """Read all words of a text, in order. A run of ideographs becomes overlapping pairs; hyphened words stay together."""
    lower = text.lower()
    if _in_ascii_words(lower):
        return [_word(found) for found in _ASCII_WORD.findall(lower)]
    found: list[Word] = []
    for word in _WORD.findall(lower):
        found.extend(_chinese_words(word) if is_ideograph(word[0]) else (_word(word),))
    return found


def list_stems(text: str) -> list[str]:
    """Read the stems of a text in order, without those of stop words."""
    return [word.stem for word in split_words(text) if word.stem]


def count_stems(text: str, most: int) -> int:
    """Count the stems of a text up to `most`, and read no farther."""
    lower, pattern = text.lower(), _ASCII_WORD if text.isascii() else _WORD
    count = 0
    for found in pattern.finditer(lower):
        word = found.group()
        count += len(_chinese_words(word)) if is_ideograph(word[0]) else bool(stem_word(word))
        if count >= most:
            return most
    return count


def split_units(text: str) -> list[str]:
    """Cut a text into runs of letters and digits, and into single ideographs. Their case stays as it is.

    Most text is ASCII, where splitting is five times as fast as the pattern.
    """
    return text.translate(_ASCII_GAPS).split() if text.isascii() else _UNIT.findall(text)


def split_pairs(run: str) -> list[str]:
    """Cut a run of ideographs into overlapping pairs. A single ideograph stays alone."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _in_ascii_words(lower: str) -> bool:
    """Whether its letters and digits are all ASCII, whatever its punctuation: their words are found in a third of the time."""
    return lower.isascii() or not _OTHER_LETTER.search(lower)


def _chinese_words(run: str) -> list[Word]:
    return [Word(pair, pair) for piece in split_at_stop_words(run) for pair in split_pairs(piece)]
