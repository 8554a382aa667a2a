"""Ranking units of passages by a question: by meaning, by words, and by how well their passages were found.

A cosine of two sentences says more about what both are about than the words that they share; a name or a number says more than
a cosine. So both count, and the passage's own score, which the search gave it, counts for all of its units.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from retrieval.language.stems import find_root
from retrieval.language.tokens import split_words
from workflows.agents.brief.units import Unit

MEANING, WORDS, PASSAGE = 1.0, 0.5, 0.75
"""The weights, where meanings are known; fitted on the build halves of `bench.brief`."""
WORDS_ALONE, AROUND = 1.0, 0.3
"""The weights without meanings: a unit's own words, and those of its neighbours."""


@dataclass(frozen=True, slots=True)
class RankedUnit:
    """A unit and how well it serves the question; scores of one ranking compare with each other only."""

    unit: Unit
    score: float


def rank_units(question: str, units: Sequence[Unit], cosines: Sequence[float]) -> list[RankedUnit]:
    """Rank units, best first. `cosines` has the meaning of each, or is empty where nothing could compare them."""
    shares = share_words(question, units)
    scores = _add_meaning(units, shares, cosines) if cosines else _add_neighbours(units, shares)
    ranked = [RankedUnit(unit, score) for unit, score in zip(units, scores, strict=True)]
    return sorted(ranked, key=lambda each: (-each.score, each.unit.place))


def share_words(question: str, units: Sequence[Unit]) -> list[float]:
    """Return for each unit which share of the question's words it holds; a word counts the more, the fewer units have it."""
    held = [words_of(unit.context) for unit in units]
    spread = Counter(word for words in held for word in words)
    weights = {word: log(1 + len(units) / (1 + spread[word])) for word in words_of(question)}
    total = sum(weights.values()) or 1.0
    return [sum(weight for word, weight in weights.items() if word in words) / total for words in held]


def words_of(text: str) -> frozenset[str]:
    """Return the roots of a text's words without stop words; Chinese as pairs of ideographs."""
    return frozenset(find_root(word.text) for word in split_words(text) if word.stem)


def _add_meaning(units: Sequence[Unit], shares: Sequence[float], cosines: Sequence[float]) -> list[float]:
    scored = zip(units, shares, cosines, strict=True)
    return [MEANING * cosine + WORDS * share + PASSAGE * unit.passage.score for unit, share, cosine in scored]


def _add_neighbours(units: Sequence[Unit], shares: Sequence[float]) -> list[float]:
    """Add to each unit's own words those of the units beside it in its passage."""
    around = []
    for at, unit in enumerate(units):
        beside = [i for i in (at - 1, at + 1) if 0 <= i < len(units) and units[i].passage.key == unit.passage.key]
        around.append(max((shares[i] for i in beside), default=0.0))
    return [WORDS_ALONE * own + AROUND * other for own, other in zip(shares, around, strict=True)]
