"""What a word that no passage holds may have been meant to be: a word that passages do hold, a slip of the pen away.

Asked of the word index alone, which knows numbers of stems and no words: all the ways the word may have been meant are looked
up in one query, and the passages that it finds are read for those words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from retrieval.index.sparse import SparseEncoder, SparseVector

LETTERS = "abcdefghijklmnopqrstuvwxyz"
_VOWELS = "aeiouy"
_ALIKE = ("csk", "sz", "gj", "mn", "dt", "bp", "vw", _VOWELS)
"""Letters written for each other by those who spell by ear; any other letter in their place makes another word."""
SHORTEST, LONGEST = 5, 24
SHORTEST_TWICE = 6
"""From this length on a word may hold two slips, the second a doubled letter, a single one, or a vowel."""
LONG = 8
"""So long a word is not met by chance: one passage will do."""
FEWEST_PASSAGES = 2
READ = 40
COUNTED = 200
_WORD = re.compile(r"[^\W\d_]+")


class WordIndex(Protocol):
    """The passages that somebody may search, by their words alone."""

    def count(self, terms: SparseVector, most: int) -> int:
        """How many passages hold any of these terms, up to `most`."""
        ...

    def texts(self, terms: SparseVector, most: int) -> Sequence[str]:
        """The texts of up to `most` passages that hold any of these terms, those with the rarest first."""
        ...


def meant(written: str, index: WordIndex, encoder: SparseEncoder) -> str | None:
    """The word of the passages that `written` stands for, in lower case unless it is a name; None where it is one of theirs.

    One slip goes before two, then what more passages hold. A name is only taken for a name. Empty where no word is near, and for
    words shorter than five letters or with other letters than English has.
    """
    word = written.lower()
    own = encoder.query(word)
    if not own.indices or index.count(own, 1):
        return None
    if not (SHORTEST <= len(word) <= LONGEST and set(word) <= set(LETTERS)):
        return ""
    close = dict.fromkeys(two_slips(word), 2) if len(word) >= SHORTEST_TWICE else {}
    close |= dict.fromkeys(one_slip(word), 1)
    forms = _forms(index.texts(encoder.query(" ".join(close)), READ), close.keys(), written[0].isupper())
    held = [(close[form.lower()], -index.count(encoder.query(form), COUNTED), form) for form in forms]
    fewest = 1 if len(word) >= LONG else FEWEST_PASSAGES
    return min((found for found in held if -found[1] >= fewest), default=(0, 0, ""))[2]


def _forms(texts: Iterable[str], wanted: AbstractSet[str], named: bool) -> list[str]:
    """Those of the close words that stand in these texts, as they are written there: names for a name, else others."""
    found: dict[str, None] = {}
    for text in texts:
        for match in _WORD.finditer(text):
            form = match.group()
            if form.lower() in wanted and named == (form[0].isupper() and not _begins(text, match.start())):
                found[form if named else form.lower()] = None
    return sorted(found)


def _begins(text: str, start: int) -> bool:
    """Whether a sentence or a line may begin here, where a capital says nothing."""
    before = text[:start].rstrip(" \"'“‘(*#-")
    return not before or before[-1] in ".!?:\n"


def one_slip(word: str) -> Iterator[str]:
    """What a word becomes by one letter more, less, two exchanged, or one that sounds alike; its first letter stays."""
    for place in range(1, len(word) + 1):
        head, tail = word[:place], word[place:]
        yield from (head + letter + tail for letter in LETTERS)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in _sounding_like(tail[0]))
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


def two_slips(word: str) -> Iterator[str]:
    """What a word becomes by two of the commonest slips: a letter doubled or not, a vowel for another."""
    for once in _common_slips(word):
        yield from _common_slips(once)


def _common_slips(word: str) -> Iterator[str]:
    for place in range(1, len(word)):
        head, letter, tail = word[:place], word[place], word[place + 1 :]
        yield head + letter + letter + tail
        if letter == word[place - 1]:
            yield head + tail
        if letter in _VOWELS:
            yield from (head + other + tail for other in _VOWELS if other != letter)


def _sounding_like(letter: str) -> str:
    return "".join(dict.fromkeys(other for group in _ALIKE if letter in group for other in group if other != letter))
