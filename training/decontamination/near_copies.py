"""Near-copies: texts that share most of their words and of their pairs of neighbouring words. One word in five may differ.

The likeness of two texts is Dice's: twice the weight of what they share, over the weight of all that both have. A word or pair
that n of the N texts have weighs log(1 + N / (1 + n)). English words are stemmed, Chinese is cut into pairs of ideographs.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from retrieval.language.tokens import split_words

LIKE = 0.5
"""The least likeness of near-copies: chosen on SciFact's claims and the multi-hop questions (`bench.leakage`)."""


class WordOverlap:
    """Texts, and the search for those most like another text."""

    def __init__(self, texts: Sequence[str], least: float = LIKE) -> None:
        self._least = least
        self._words = [_words_of(text) for text in texts]
        self._counts = Counter(word for words in self._words for word in words)
        self._weights = [self._weigh(words) for words in self._words]
        self._holders: dict[str, list[int]] = defaultdict(list)
        for place, words in enumerate(self._words):
            for word in words:
                self._holders[word].append(place)

    def find_near(self, text: str) -> dict[int, float]:
        """Return the likeness of all near-copies of a text, by their places."""
        return self._find_near(_words_of(text))

    def list_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield each pair of texts that are near-copies of each other."""
        for place, words in enumerate(self._words):
            yield from ((place, other) for other in self._find_near(words) if other > place)

    def _find_near(self, words: frozenset[str]) -> dict[int, float]:
        weight = self._weigh(words)
        found = {place: self._likeness(words, weight, place) for place in self._list_possible(words, weight)}
        return {place: likeness for place, likeness in found.items() if likeness >= self._least}

    def _list_possible(self, words: frozenset[str], weight: float) -> set[int]:
        """Return the places of all texts that may be near enough.

        A near text shares at least L / (2 - L) of the weight, so it has one of the rarest words that make up the rest. Frequent
        words, which nearly all texts have, need not be looked up.
        """
        left = weight * (1 - self._least / (2 - self._least))
        possible: set[int] = set()
        for word in sorted(words, key=lambda word: (self._counts[word], word)):
            possible.update(self._holders.get(word, ()))
            left -= self._weight_of(word)
            if left < 0:
                break
        return possible

    def _likeness(self, words: frozenset[str], weight: float, place: int) -> float:
        return 2 * self._weigh(words & self._words[place]) / (weight + self._weights[place])

    def _weigh(self, words: frozenset[str]) -> float:
        return sum(self._weight_of(word) for word in sorted(words))

    def _weight_of(self, word: str) -> float:
        return math.log(1 + len(self._words) / (1 + self._counts[word]))


def _words_of(text: str) -> frozenset[str]:
    words = [word.key for word in split_words(text)]
    return frozenset(words) | {f"{one} {next_one}" for one, next_one in pairwise(words)}
