"""A sentence read once, with all that detectors ask of it."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from retrieval.language.names import find_names
from retrieval.language.numbers import Number, read_numbers
from retrieval.language.tokens import Word, split_words
from retrieval.language.word_lists import read_lists
from workflows.checks.polarity import Event, events_of, is_negation

READ_AT_ONCE = 4_096
_LISTS = read_lists("reading.toml", "workflows.checks")
AIMS = frozenset(_LISTS["aims"])
"""Words of a sentence that says what is asked."""
CONCLUSIONS = frozenset(_LISTS["conclusions"])
"""Words of a sentence that says what was found."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as detectors see it.

    `pairs` are stems that follow each other, `denials` the places of its negations. `aims`: it says what was asked;
    `concludes`: what was found.
    """

    text: str
    words: tuple[Word, ...]
    stems: tuple[str, ...]
    stem_set: frozenset[str]
    numbers: tuple[Number, ...]
    events: tuple[Event, ...]
    denials: tuple[int, ...]
    pairs: frozenset[tuple[str, str]]
    aims: bool
    concludes: bool

    @property
    def names(self) -> frozenset[str]:
        """Its names, in lower case."""
        return find_names(self.text)


@lru_cache(maxsize=READ_AT_ONCE)
def read(text: str) -> Sentence:
    """A sentence, read. The latest ones are kept: claims of a report rest on the same quotes again and again."""
    words = tuple(split_words(text))
    plain = [word.text for word in words]
    stems = tuple(word.stem for word in words if word.stem)
    denials = tuple(at for at, word in enumerate(words) if is_negation(word))
    return Sentence(
        text=text,
        words=words,
        stems=stems,
        stem_set=frozenset(stems),
        numbers=read_numbers(text, plain),
        events=events_of(words, denials),
        denials=denials,
        pairs=frozenset(pairwise(stems)),
        aims=not AIMS.isdisjoint(plain),
        concludes=not CONCLUSIONS.isdisjoint(plain),
    )
