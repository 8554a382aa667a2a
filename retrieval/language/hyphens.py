"""Hyphens at the ends of lines: those that a typesetter has put there go, those of a word stay."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise

from app.domain.script import is_ideograph
from retrieval.language.dictionary import read_shares

_HYPHENS = "-‐\u00ad"
_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_LAST = re.compile(rf"([^\W_]+(?:[-‐][^\W_]+)*)[{_HYPHENS}]$")
_CLOSED = re.compile(r"\w[–—]$|://$")
"""The end of a line after a dash without spaces, or within an address."""
_FIRST = re.compile(r"[^\W_]+(?:[-‐'’][^\W_]+)*")
_SUSPENDED = frozenset(["and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e", "en", "of"])
"""Words before which a hyphen stands for the second half of a word: "two- and three-year"."""
_SMALL_WORDS = {
    "en": ("the", "of", "and", "is", "that", "with", "for"),
    "de": ("der", "die", "und", "das", "ist", "nicht", "mit"),
    "fr": ("le", "la", "les", "et", "des", "est", "dans"),
    "es": ("el", "los", "las", "y", "del", "que", "por"),
    "it": ("il", "che", "di", "della", "è", "gli", "per"),
    "nl": ("het", "een", "van", "en", "dat", "niet", "voor"),
    "pt": ("o", "os", "não", "uma", "do", "da", "com"),
}
"""Words by which a language shows, for those that there is a list of words for."""
_SHORT = 3
_RARE = 5e-6


def ends_in_hyphen(text: str) -> bool:
    """Say whether a line ends within a word, or after a hyphen in one."""
    return _LAST.search(text) is not None


class Hyphenation:
    """The hyphenation of one document. Its own words decide, then a list of its language's words."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words: Counter[str] = Counter()
        for before, line in pairwise(["", *lines]):
            found = [word.lower().replace("‐", "-") for word in _WORD.findall(line)]
            # What a line's end cuts is no word.
            self._words.update(found[bool(ends_in_hyphen(before)) : len(found) - ends_in_hyphen(line)])

    def join(self, before: str, after: str) -> str:
        """Join two lines of a paragraph."""
        last, first = _LAST.search(before), _FIRST.match(after)
        if last is None or first is None:
            wide = before[-1:] and (is_ideograph(before[-1]) or before[-1] in "，、。；：") and is_ideograph(after[:1])
            return f"{before}{'' if wide or _CLOSED.search(before) else ' '}{after}"
        if first[0].lower() in _SUSPENDED:
            return f"{before} {after}"
        if self._is_broken(last[1].replace("‐", "-"), first[0].replace("‐", "-")):
            return before[:-1] + after
        return before.replace("\u00ad", "-") + after

    def _is_broken(self, last: str, first: str) -> bool:
        """Say whether the hyphen between two parts of a word goes."""
        capitals = last.isupper() and len(last) > 1 and first.isupper()
        if not last[-1].isalpha() or not (first[0].islower() or capitals):
            return False
        whole, hyphened = (last + first).lower(), f"{last}-{first}".lower()
        if self._words[whole] != self._words[hyphened]:
            return self._words[whole] > self._words[hyphened]
        left, right = last.split("-")[-1], re.split(r"[-'’]", first)[0]
        if self._is_word(left + right):
            return True
        if "-" in last or "-" in first:
            return False
        if self._language == "de" and left[0].isupper() and not capitals:
            return True  # German joins nouns without a hyphen, or writes the second with a capital
        return not (len(left) == 1 or self._is_word(left)) or not (self._is_word(right) and not self._is_ending(right))

    def _is_word(self, word: str) -> bool:
        return self._words[word.lower()] > 0 or word.lower() in read_shares(self._language)

    def _is_ending(self, word: str) -> bool:
        """Say whether a short and rare word is rather the end of one, as "ing" or "er"."""
        return len(word) <= _SHORT and read_shares(self._language).get(word.lower(), 0.0) < _RARE

    @cached_property
    def _language(self) -> str:
        return max(_SMALL_WORDS, key=lambda language: sum(self._words[word] for word in _SMALL_WORDS[language]))
