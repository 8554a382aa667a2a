"""A dense encoder for tests, whose vector of a text is the sum of its words' fixed random directions; and a rater by words."""

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np

from retrieval.encoding.encoder import Vectors

SIZE = 384


class WordEncoder:
    """A deterministic, instant encoder. It raises `Cut` instead of encoding text number `fails_at`, as a kill would stop it."""

    def __init__(self, name: str = "words-of-tests", fails_at: int | None = None) -> None:
        self.name = name
        self.size = SIZE
        self.encoded: list[str] = []
        self._fails_at = fails_at

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        for text in texts:
            if self._fails_at is not None and len(self.encoded) >= self._fails_at:
                raise SimulatedDeath
            self.encoded.append(text)
        return np.stack([self._make_vector(text) for text in texts])

    def encode_query(self, text: str) -> list[float]:
        """Return a query's vector."""
        vector: list[float] = self._make_vector(text).tolist()
        return vector

    def can_read(self, _: str) -> bool:
        """Accept words of any language."""
        return True

    def _make_vector(self, text: str) -> Vectors:
        total = np.zeros(SIZE, np.float32)
        for word in text.lower().split():
            total += _direction_of(f"{self.name} {word}")
        return total / max(float(np.linalg.norm(total)), 1e-6)


class WordRater:
    """A rater for tests: the share of the question's words that a text has."""

    def rate(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a rating a text."""
        asked = set(question.lower().split())
        return [len(asked & set(text.lower().split())) / len(asked) for text in texts]


@cache
def _direction_of(word: str) -> Vectors:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
    return np.random.default_rng(seed).standard_normal(SIZE, np.float32)


class SimulatedDeath(BaseException):
    """A stand-in for the death of the process: nothing in the product catches it."""
