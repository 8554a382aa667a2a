"""Finding text that orders about the machine which reads it, rather than people.

A linear model judges each sentence with its surroundings. It has learned from passages that people wrote with and without such an
order, in the same genres (bench/labels/injection, `bench.fit_injection`); no word alone decides.
"""

import gzip
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import repeat
from typing import NamedTuple

from retrieval.untrusted.injection_grams import SentenceGrams, Writing, pieces_of, read_sentences, writing_of
from retrieval.untrusted.plain_letters import to_plain

ORDER, HIDDEN = "order_to_machine", "hidden_text"
MAX_CHARS = 400_000
FEWEST_ALONE = 6
"""A title or an address of fewer different words orders nothing: "About this report" says too little to be judged."""
ROUNDING = 1e-6
"""More than what sums of floats differ by when they are added in another order."""
KEPT_WORDS = 16_384
"""The words of which a model remembers how much their pieces speak for an order: some 2 MB."""
WEIGHTS = "injection_weights.{writing}.json.gz"


class InjectionHit(NamedTuple):
    """A stretch `[start, end)` of a text, and the name of what it is."""

    rule: str
    start: int
    end: int


@dataclass(frozen=True)
class InjectionModel:
    """A linear model: the weights of n-grams, and the sum above which a sentence is an order to a machine.

    One that stands alone, as titles do, has a limit of its own: nothing around it speaks for or against. `squares` remembers what
    `_square_pieces` returns.
    """

    weights: Mapping[str, float]
    limit: float
    limit_alone: float
    squares: dict[str, float] = field(default_factory=dict)

    def is_order(self, sentence: SentenceGrams) -> bool:
        """Say whether a sentence orders a machine about."""
        limit = self.limit if sentence.around else self.limit_alone
        return self._score_most(sentence) > limit - ROUNDING and self.score(sentence) > limit

    def score(self, sentence: SentenceGrams) -> float:
        """Return the sum of the weights; each set of n-grams is divided by the square root of its size."""
        return sum(map(self._score_set, sentence.sets))

    def _score_set(self, grams: frozenset[str]) -> float:
        return sum(map(self.weights.get, grams, repeat(0.0))) / math.sqrt(len(grams)) if grams else 0.0

    def _score_most(self, sentence: SentenceGrams) -> float:
        """Return a number that the score does not exceed, without the pieces of all words.

        The sum of n numbers, divided by the square root of n, is at most the root of the sum of their squares.
        """
        squares = sum([self._square_pieces(word) for word in sentence.cut])
        return self._score_set(sentence.words) + self._score_set(sentence.around) + math.sqrt(squares)

    def _square_pieces(self, word: str) -> float:
        """Return the sum of the squares of a word's pieces whose weights speak for an order."""
        known = self.squares.get(word)
        if known is None:
            if len(self.squares) == KEPT_WORDS:
                self.squares.clear()
            weights = map(self.weights.get, pieces_of(word), repeat(0.0))
            known = self.squares[word] = sum([weight**2 for weight in weights if weight > 0])
        return known


def find_injections(text: str) -> tuple[InjectionHit, ...]:
    """Find where `text` orders a machine about, in order. Invisible characters and look-alike letters do not hide it."""
    plain = to_plain(text[:MAX_CHARS])
    writing = writing_of(plain)
    judged = (each for each in read_sentences(plain, writing) if each.around or each.count_words() >= FEWEST_ALONE)
    found = [sentence for sentence in judged if load_model(writing).is_order(sentence)]
    return tuple(InjectionHit(ORDER, sentence.start, sentence.end) for sentence in found)


def names_of(hits: tuple[InjectionHit, ...]) -> tuple[str, ...]:
    """Return the names of what was found, each once, in alphabetical order."""
    return tuple(sorted({hit.rule for hit in hits}))


@cache
def load_model(writing: Writing) -> InjectionModel:
    """Load the model of a way of writing; its n-grams share a few hundred weights."""
    packed = files("retrieval.untrusted").joinpath(WEIGHTS.format(writing=writing)).read_bytes()
    return InjectionModel(**json.loads(gzip.decompress(packed), parse_float=cache(float)))
