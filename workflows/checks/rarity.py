"""The weight of a word: its inverse document frequency in a thousand excerpts of encyclopedia and abstracts (rarity.json)."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

UNSEEN = 1


@dataclass(frozen=True)
class WordRarity:
    """Weights of stems. `counts` says in how many of `documents` a stem occurs; an unlisted stem counts as seen once."""

    documents: int
    counts: Mapping[str, int]

    def weight_of(self, stem: str) -> float:
        """Return the weight of a stem, above 0."""
        return self._weights.get(stem, self._unseen)

    def share_of(self, weights: Mapping[str, float], present: frozenset[str]) -> float:
        """Return the share of these weights whose stems are present, from 0 to 1."""
        total = sum(weights.values())
        return sum([weight for stem, weight in weights.items() if stem in present]) / total if total else 0.0

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        return {stem: self._weight_for(count) for stem, count in self.counts.items()}

    @cached_property
    def _unseen(self) -> float:
        return self._weight_for(UNSEEN)

    def _weight_for(self, count: int) -> float:
        return math.log((self.documents + 1) / (count + 0.5))


@cache
def load_rarity() -> WordRarity:
    """Load the counts of this package."""
    return WordRarity(**json.loads(files("workflows.checks").joinpath("rarity.json").read_text(encoding="utf-8")))
