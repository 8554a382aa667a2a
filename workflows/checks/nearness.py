"""How near evidence is to a claim in meaning: features of dense vectors, when there is an encoder."""

from collections.abc import Mapping, Sequence
from math import sqrt
from operator import mul
from typing import NamedTuple, TypeAlias

Vector: TypeAlias = Sequence[float]
TextVectors: TypeAlias = Mapping[str, Vector]
"""Unit vectors by text."""


class Nearness(NamedTuple):
    """Cosines with the claim: the nearest sentence, the mean of the three nearest, the title, the evidence as a whole.

    `both` is the highest product of a sentence's share of the claim's words and its cosine.
    """

    nearest: float
    near: float
    title: float
    whole: float
    both: float


def cosine_of(one: Vector, other: Vector) -> float:
    """Return the cosine of two unit vectors."""
    return float(sum(map(mul, one, other)))


def measure_nearness(claim: str, title: str, sentences: Sequence[str], shares: Sequence[float], vectors: TextVectors) -> Nearness:
    """Return the features. `shares` is each sentence's share of the claim's words. Sentences without a vector do not count."""
    known = [(vectors[text], share) for text, share in zip(sentences, shares, strict=True) if text in vectors]
    own = vectors[claim]
    cosines = [cosine_of(own, vector) for vector, _ in known]
    nearest = sorted(cosines, reverse=True)[:3]
    mean = [sum(column) for column in zip(*(vector for vector, _ in known), strict=True)]
    return Nearness(
        nearest=nearest[0],
        near=sum(nearest) / len(nearest),
        title=cosine_of(own, vectors[title]) if title in vectors else 0.0,
        whole=cosine_of(own, mean) / (sqrt(cosine_of(mean, mean)) or 1.0),
        both=max(share * value for value, (_, share) in zip(cosines, known, strict=True)),
    )
