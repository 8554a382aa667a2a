"""Reading a sentence once, with everything that detectors need of it."""

from dataclasses import dataclass
from functools import lru_cache

from retrieval.language.names import find_names
from retrieval.language.numbers import Number, read_numbers
from retrieval.language.tokens import Word, split_words

READ_AT_ONCE = 1_024
SMALL = 12.0
"""Up to this value a whole number in a sentence may count its own parts ("two accounts")."""


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence as detectors see it."""

    text: str
    words: tuple[Word, ...]
    stems: tuple[str, ...]
    stem_set: frozenset[str]
    numbers: tuple[Number, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names in the sentence, in lower case."""
        return find_names(self.text)

    @property
    def exact_numbers(self) -> tuple[Number, ...]:
        """The numbers that can be looked up."""
        return tuple(filter(is_exact, self.numbers))


def is_exact(number: Number) -> bool:
    """Say whether a number can be looked up: it has a unit or a fraction, or is not small."""
    return bool(number.unit) or number.value > SMALL or not number.value.is_integer()


@lru_cache(maxsize=READ_AT_ONCE)
def read_sentence(text: str) -> ReadSentence:
    """Read a sentence. The latest ones are cached, because many claims of a report rest on the same quotes."""
    words = tuple(split_words(text))
    plain = [word.text for word in words]
    stems = tuple(word.stem for word in words if word.stem)
    return ReadSentence(
        text=text,
        words=words,
        stems=stems,
        stem_set=frozenset(stems),
        numbers=read_numbers(text, plain),
    )
