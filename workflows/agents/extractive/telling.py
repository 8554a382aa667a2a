"""How much a word of a question tells: common words say little about which passage is meant."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from retrieval.language.stems import stem_word
from workflows.checks.grading import load_grader

MOSTLY = 0.6
"""From this share of a question's telling weight on, a passage speaks of what is asked."""
TELLING = 0.6
"""From this weight on a word tells what is asked about; "mortality" does, "risk" does not."""
RARE = 4.5
"""The rarity (a logarithm) of a word that is met in one of ninety documents, and weighs 1."""
LEAST, MOST = 0.4, 1.25
COMMON = 0.8
"""What a word loses of its weight where all hold it."""


def contrasting(weights: Mapping[str, float], texts: Iterable[frozenset[str]], common: float = COMMON) -> dict[str, float]:
    """Terms' weights among these texts, each given as its terms: less for what many hold, which tells none from the others."""
    held, count = Counter[str](), 0
    for terms in texts:
        held.update(terms & weights.keys())
        count += 1
    return {term: weight * (1 - common * held[term] / (count or 1)) for term, weight in weights.items()}


@lru_cache(maxsize=4_096)
def telling_weight(word: str) -> float:
    """A word's weight by its rarity in general English text, from 0.4 to 1.25; a word that was never met weighs most."""
    return min(MOST, max(LEAST, load_grader().rarity.weight_of(stem_word(word.lower())) / RARE))
