"""Words as texts are compared by them: English stemmed, Chinese cut into pairs of simplified ideographs."""

import re
from functools import lru_cache
from typing import NamedTuple

from app.domain.script import IDEOGRAPHS, has_ideographs, is_ideograph
from retrieval.language.stems import KEPT_WORDS, stem_word
from retrieval.language.stop_words import split_at_stop_words
from retrieval.language.traditional import simplify

_WORD = re.compile(
    rf"[{IDEOGRAPHS}]+|\d+(?:[.,]\d+)*"
    rf"|[^\W\d_{IDEOGRAPHS}](?:(?:[^\W{IDEOGRAPHS}]|[/+-])*[^\W_{IDEOGRAPHS}])?(?:['’][^\W\d_{IDEOGRAPHS}]+)?"
)
_UNIT = re.compile(rf"[{IDEOGRAPHS}]|[^\W_{IDEOGRAPHS}]+")


class Word(NamedTuple):
    """A word in lower case, and its stem, which is empty for a stop word."""

    text: str
    stem: str

    @property
    def key(self) -> str:
        """What word lists name it by."""
        return self.stem or self.text


def split_words(text: str) -> list[Word]:
    """Read all words of a text, in order; hyphened words stay together.

    A run of ideographs becomes overlapping pairs of simplified ones, so that both ways of writing Chinese have the same words.
    """
    words = _WORD.findall(simplify(text.lower()))
    if not has_ideographs(text):
        return [*map(_read_word, words)]
    found: list[Word] = []
    for word in words:
        found.extend(_chinese_words(word) if is_ideograph(word[0]) else [_read_word(word)])
    return found


def list_stems(text: str) -> list[str]:
    """Read the stems of a text in order, without those of stop words."""
    return [word.stem for word in split_words(text) if word.stem]


def split_units(text: str) -> list[str]:
    """Cut a text into runs of letters and digits, and into single ideographs. Their case stays as it is."""
    return _UNIT.findall(text)


def split_pairs(run: str) -> list[str]:
    """Cut a run of ideographs into overlapping pairs. A single ideograph stays alone."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@lru_cache(maxsize=KEPT_WORDS)
def _read_word(lower: str) -> Word:
    """Return a word, one object for all its places: the sentences that are kept consist of them."""
    return Word(lower, stem_word(lower))


def _chinese_words(run: str) -> list[Word]:
    return [Word(pair, pair) for piece in split_at_stop_words(run) for pair in split_pairs(piece)]
