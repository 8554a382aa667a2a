"""The correction of a word that no passage contains to a similar word of the passages.

The word index knows numbers of stems, and no words. So one query looks up all candidates, and the passages that it finds are
searched for them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from retrieval.index.sparse import SparseEncoder, SparseVector

LETTERS = "abcdefghijklmnopqrstuvwxyz"
_VOWELS = "aeiouy"
_ALIKE = ("csk", "sz", "gj", "mn", "dt", "bp", "vw", _VOWELS)
"""Letters that sound alike, and that people who spell by ear exchange."""
SHORTEST, LONGEST = 5, 24
SHORTEST_TWICE = 6
"""The length from which a word may have two slips: of doubled letters or of vowels."""
LONG = 8
"""The length from which a word is hardly met by chance, so that one passage is enough."""
FEWEST_PASSAGES = 2
READ = 40
COUNTED = 200
_WORD = re.compile(r"[^\W\d_]+")


class WordIndex(Protocol):
    """The words of the passages that a caller may search."""

    def count(self, terms: SparseVector, most: int) -> int:
        """Count the passages with any of these terms, up to `most`."""
        ...

    def find_texts(self, terms: SparseVector, most: int) -> Sequence[str]:
        """Return the texts of up to `most` passages with any of these terms, those with the rarest first."""
        ...


def find_meant(written: str, index: WordIndex, encoder: SparseEncoder) -> str | None:
    """Find the word of the passages that `written` means, in lower case unless it is a name; None where passages contain it.

    A word with one slip comes before one with two, then the word of more passages. A name only corrects to a name. The result is
    empty where no word is similar, and for words of fewer than five letters or with letters that English does not have.
    """
    word = written.lower()
    own = encoder.weigh_query(word)
    if not own.indices or index.count(own, 1):
        return None
    if not (SHORTEST <= len(word) <= LONGEST and set(word) <= set(LETTERS)):
        return ""
    close = dict.fromkeys(two_slip_words(word), 2) if len(word) >= SHORTEST_TWICE else {}
    close |= dict.fromkeys(one_slip_words(word), 1)
    forms = _find_forms(index.find_texts(encoder.weigh_query(" ".join(close)), READ), close.keys(), written[0].isupper())
    held = [(close[form.lower()], -index.count(encoder.weigh_query(form), COUNTED), form) for form in forms]
    fewest = 1 if len(word) >= LONG else FEWEST_PASSAGES
    return min((found for found in held if -found[1] >= fewest), default=(0, 0, ""))[2]


def _find_forms(texts: Iterable[str], wanted: AbstractSet[str], named: bool) -> list[str]:
    """Return the wanted words that occur in these texts, as they are written there: names for a name, else other words."""
    found: dict[str, None] = {}
    for text in texts:
        for match in _WORD.finditer(text):
            form = match.group()
            if form.lower() in wanted and named == (form[0].isupper() and not _may_begin(text, match.start())):
                found[form if named else form.lower()] = None
    return sorted(found)


def _may_begin(text: str, start: int) -> bool:
    """Whether a sentence or a line may begin here, where a capital does not show a name."""
    before = text[:start].rstrip(" \"'“‘(*#-")
    return not before or before[-1] in ".!?:\n"


def one_slip_words(word: str) -> Iterator[str]:
    """Yield the words that differ by one letter more, one less, two exchanged, or one that sounds alike; the first stays."""
    for place in range(1, len(word) + 1):
        head, tail = word[:place], word[place:]
        yield from (head + letter + tail for letter in LETTERS)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in _similar_letters(tail[0]))
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


def two_slip_words(word: str) -> Iterator[str]:
    """Yield the words that differ by two of the most common slips: a letter doubled or not, or another vowel."""
    for once in _common_slip_words(word):
        yield from _common_slip_words(once)


def _common_slip_words(word: str) -> Iterator[str]:
    for place in range(1, len(word)):
        head, letter, tail = word[:place], word[place], word[place + 1 :]
        yield head + letter + letter + tail
        if letter == word[place - 1]:
            yield head + tail
        if letter in _VOWELS:
            yield from (head + other + tail for other in _VOWELS if other != letter)


def _similar_letters(letter: str) -> str:
    return "".join(dict.fromkeys(other for group in _ALIKE if letter in group for other in group if other != letter))
