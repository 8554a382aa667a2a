"""The directions that a sentence states: up or down, for or against, and whether it denies them.

Direction words have a sign; a negation shortly before one reverses it. Examples are `activates` and `inhibits`, `higher` and
`lower`, `associated` and `not associated`: a claim and a sentence can share every other word and still disagree.
"""

from collections.abc import Sequence
from typing import NamedTuple

from retrieval.language.tokens import Word
from retrieval.language.word_lists import read_lists

NEGATION_REACH = 4
_LISTS = read_lists("polarity.toml", "workflows.checks")


def _forms_of(words: Sequence[str]) -> frozenset[str]:
    """Return these words with their regular endings. Stems would be too coarse: `positive` has a direction, `position` none."""
    found: set[str] = set()
    for word in words:
        bare = word.removesuffix("e")
        found |= {word, f"{word}s", f"{bare}ed", f"{bare}ing"} if word.isascii() else {word}
    return frozenset(found)


UP, DOWN = _forms_of(_LISTS["up"]), _forms_of(_LISTS["down"])
# Words in both lists depend on what follows them ("protects against"); they carry no sign of their own.
_SIGNS = dict.fromkeys(UP - DOWN, 1) | dict.fromkeys(DOWN - UP, -1)
NEGATIONS = frozenset(_LISTS["negations"])
_CHINESE_NEGATIONS = ("不", "没", "無", "无", "未", "非", "否")


class DirectionEvent(NamedTuple):
    """A direction word at a place in a list of words; `sign` is +1 or -1, after negation."""

    at: int
    sign: int


def events_of(words: Sequence[Word], denials: Sequence[int]) -> tuple[DirectionEvent, ...]:
    """Return the directions that a sentence states, in order; `denials` are the places of its negations."""
    found: list[DirectionEvent] = []
    for at, word in enumerate(words):
        sign = _SIGNS.get(word.text, 0)
        if sign:
            denied = any(at - NEGATION_REACH <= denial < at for denial in denials)
            found.append(DirectionEvent(at, -sign if denied else sign))
    return tuple(found)


def is_negation(word: Word) -> bool:
    """Say whether a word is a negation."""
    text = word.text
    return text in NEGATIONS or text.endswith(("n't", "n’t")) or text.startswith(_CHINESE_NEGATIONS)
