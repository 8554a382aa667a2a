"""How much a word tells: its inverse document frequency in the labelled evidence the grader was fitted on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

UNSEEN = 1


@dataclass(frozen=True)
class Rarity:
    """`counts` says in how many of `documents` a stem occurs; one that is not listed counts as met once."""

    documents: int
    counts: Mapping[str, int]

    def of(self, stem: str) -> float:
        """The weight of a stem, above 0."""
        return self._weights.get(stem, self._unseen)

    def share(self, weights: Mapping[str, float], present: frozenset[str]) -> float:
        """How much of these weights is present, from 0 to 1."""
        total = sum(weights.values())
        return sum([weight for stem, weight in weights.items() if stem in present]) / total if total else 0.0

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        return {stem: self._weight(count) for stem, count in self.counts.items()}

    @cached_property
    def _unseen(self) -> float:
        return self._weight(UNSEEN)

    def _weight(self, count: int) -> float:
        return math.log((self.documents + 1) / (count + 0.5))
