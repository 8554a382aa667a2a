"""Join the word half and the meaning half of a hybrid search.

Equal-weight fusion of standard scores: in each half a score is told in standard deviations from the mean of that half's
candidates, and the two are averaged. Against reciprocal ranks it keeps how much better the best hit is; against stretching to the
range of the candidates it does not hang on the worst of them (see docs/decisions/0025).
"""

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

Key = tuple[str, int]
"""A candidate: an index and its number in it."""
WIDTH = 6.0
"""Standard deviations between 0 and 1: the mean scores 0.5, and what a half did not find counts as three below its mean."""


class _Scale(NamedTuple):
    """A score counts `(score - zero) / unit`."""

    zero: float
    unit: float


def fuse(sparse: Mapping[Key, float], dense: Mapping[Key, float] | None, wanted: int) -> list[tuple[Key, float]]:
    """Candidates with their fused score, best first, seldom outside 0..1. `dense` is None where there are no dense vectors.

    `wanted` is how many each half was asked for. Where the words found fewer, every other passage has none of them and scores
    zero: theirs then count from zero to the best, so that a word which one passage has is not drowned.
    """
    few = 0 < len(sparse) < wanted
    halves = [(sparse, _from_zero(sparse) if few else _standard(sparse))]
    if dense is not None:
        halves.append((dense, _standard(dense)))
    fused: dict[Key, float] = {}
    for scores, (zero, unit) in halves:
        for key, score in scores.items():
            fused[key] = fused.get(key, 0.0) + (score - zero) / unit / len(halves)
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))


def _from_zero(scores: Mapping[Key, float]) -> _Scale:
    return _Scale(0.0, max(scores.values()) or 1.0)


def _standard(scores: Mapping[Key, float]) -> _Scale:
    """Any unit will do where all scores are alike."""
    count = len(scores) or 1
    mean = sum(scores.values()) / count
    width = WIDTH * sqrt(sum((score - mean) ** 2 for score in scores.values()) / count) or 1.0
    return _Scale(mean - width / 2, width)
