"""What a sentence says about direction: up or down, for or against, and whether it denies it.

Words of direction carry a sign; a negation shortly before one turns it. `activates` against `inhibits`, `higher` against `lower`,
`associated` against `not associated`: a claim and a sentence can agree in every word but this.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from retrieval.language.tokens import Word
from retrieval.language.word_lists import read_lists

NEGATION_REACH = 4
_LISTS = read_lists("polarity.toml", "workflows.checks")


def _forms(words: Sequence[str]) -> frozenset[str]:
    """These words with their regular endings. Forms rather than stems: `positive` has a direction, `position` has none."""
    found: set[str] = set()
    for word in words:
        bare = word.removesuffix("e")
        found |= {word, f"{word}s", f"{bare}ed", f"{bare}ing"} if word.isascii() else {word}
    return frozenset(found)


UP, DOWN = _forms(_LISTS["up"]), _forms(_LISTS["down"])
# Words in both lists depend on what follows them ("protects against"); they carry no sign of their own.
_SIGNS = dict.fromkeys(UP - DOWN, 1) | dict.fromkeys(DOWN - UP, -1)
NEGATIONS = frozenset(_LISTS["negations"])
_CHINESE_NEGATIONS = ("不", "没", "無", "无", "未", "非", "否")


class Event(NamedTuple):
    """A word of direction at a place in a list of words; `sign` is +1 or -1, after negation."""

    at: int
    sign: int


def events_of(words: Sequence[Word], denials: Sequence[int]) -> tuple[Event, ...]:
    """The directions a sentence states, in order; `denials` are the places of its negations."""
    found: list[Event] = []
    for at, word in enumerate(words):
        sign = _SIGNS.get(word.text, 0)
        if sign:
            denied = any(at - NEGATION_REACH <= denial < at for denial in denials)
            found.append(Event(at, -sign if denied else sign))
    return tuple(found)


def is_negation(word: Word) -> bool:
    """Whether a word denies."""
    return _denies(word.text)


@lru_cache(maxsize=65_536)
def _denies(text: str) -> bool:
    return text in NEGATIONS or text.endswith(("n't", "n’t")) or text.startswith(_CHINESE_NEGATIONS)
