"""A sentence read once, with all that detectors ask of it."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from workflows.checks.names import names_of
from workflows.checks.numbers import Number, numbers_of
from workflows.checks.polarity import Event, events_of, is_negation
from workflows.checks.words import Word, listed, words_of

READ_AT_ONCE = 4_096
AIMS = listed(
    """
    aim aims aimed objective objectives background context whether determine investigate investigated evaluate assess examine
    examined test purpose unclear unknown hypothesis hypothesize hypothesized 是否 旨在 目的 假设 不清
    """
)
"""Words of a sentence that says what is asked."""
CONCLUSIONS = listed(
    """
    conclude concluded conclusion conclusions summary findings data demonstrate demonstrated report identified identify suggest
    suggests suggesting indicate indicates indicating thus therefore interpretation 结论 表明 因此 显示
    """
)
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
        return names_of(self.text)


@lru_cache(maxsize=READ_AT_ONCE)
def read(text: str) -> Sentence:
    """A sentence, read. The latest ones are kept: claims of a report rest on the same quotes again and again."""
    words = tuple(words_of(text))
    plain = [word.text for word in words]
    stems = tuple(word.stem for word in words if word.stem)
    denials = tuple(at for at, word in enumerate(words) if is_negation(word))
    return Sentence(
        text=text,
        words=words,
        stems=stems,
        stem_set=frozenset(stems),
        numbers=numbers_of(text, plain),
        events=events_of(words, denials),
        denials=denials,
        pairs=frozenset(pairwise(stems)),
        aims=not AIMS.isdisjoint(plain),
        concludes=not CONCLUSIONS.isdisjoint(plain),
    )
