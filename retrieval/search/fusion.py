"""The fusion of the two halves of a hybrid search: by words and by meaning.

It averages standard scores with equal weights. A standard score counts standard deviations from the mean of its half's
candidates. Unlike reciprocal ranks it keeps the lead of the best hit; unlike scaling to the range of the candidates it does not
depend on the worst of them (docs/decisions/0017).
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

Key = TypeVar("Key")
Named = TypeVar("Named")
AVERAGE = 0.5
WIDTH = 6.0
"""Standard deviations between 0 and 1: the mean scores 0.5, and what a half did not find counts as three below its mean."""


NONE_MISSED: Mapping[Any, float] = MappingProxyType({})


class _Scale(NamedTuple):
    """A score counts `(score - zero) / unit`."""

    zero: float
    unit: float


def fuse_scores(
    sparse: Mapping[Key, float],
    dense: Mapping[Key, float] | None,
    wanted: int,
    documents: Mapping[Key, str] | None = None,
    missed: Mapping[Key, float] = NONE_MISSED,
) -> list[tuple[Key, float]]:
    """Rank the candidates by their fused score, best first, seldom outside of 0..1. `dense` is None without dense vectors.

    `wanted` is the limit of each half. Where the words found fewer passages, no other passage has any of the words: their scores
    then count from zero to the best, so that a rare word keeps its weight. `documents` names each candidate's document: its best
    passage then counts with the best score of all its passages in each half, since question and answer may stand in different
    passages. `missed` holds the dense scores of what only the words found: a graph of vectors misses one in twenty of the
    nearest, which would else count as if they were far.
    """
    halves = _scale_halves(sparse, dense, wanted, missed)
    fused = _add_halves(halves)
    if documents is not None:
        together = _add_halves([_best_scores(half, documents) for half in halves])
        fused |= {key: together[document] for document, key in _best_passages(fused, documents).items()}
    ranked = sorted(fused.items(), key=lambda found: (-found[1], found[0]))
    return [(key, score / len(halves)) for key, score in ranked]


def find_above_average(
    sparse: Mapping[Key, float], dense: Mapping[Key, float] | None, wanted: int, missed: Mapping[Key, float] = NONE_MISSED
) -> frozenset[Key]:
    """Return the candidates that every half found and puts above its average. The arguments are those of `fuse_scores`."""
    halves = _scale_halves(sparse, dense, wanted, missed)
    return frozenset(key for key in halves[0] if all(half.get(key, 0.0) > AVERAGE for half in halves))


def _scale_halves(
    sparse: Mapping[Key, float], dense: Mapping[Key, float] | None, wanted: int, missed: Mapping[Key, float]
) -> list[dict[Key, float]]:
    few = 0 < len(sparse) < wanted
    halves = [_scale_scores(sparse, _zero_scale(sparse) if few else _standard_scale(sparse))]
    return halves if dense is None else [*halves, _scale_scores({**dense, **missed}, _standard_scale(dense))]


def _add_halves(halves: Sequence[Mapping[Named, float]]) -> dict[Named, float]:
    """Add the halves. A candidate that a half does not have counts as 0 there."""
    sums = dict(halves[0])
    for half in halves[1:]:
        for name, score in half.items():
            sums[name] = sums.get(name, 0.0) + score
    return sums


def _best_scores(half: Mapping[Key, float], documents: Mapping[Key, str]) -> dict[Key | str, float]:
    """Return the best score of each document. A candidate without a known document counts as one of its own."""
    best: dict[Key | str, float] = {}
    for key, score in half.items():
        document = documents.get(key, key)
        if document not in best or score > best[document]:
            best[document] = score
    return best


def _best_passages(fused: Mapping[Key, float], documents: Mapping[Key, str]) -> dict[Key | str, Key]:
    """Return the best passage of each document."""
    best: dict[Key | str, tuple[float, Key]] = {}
    for key, score in fused.items():
        document = documents.get(key, key)
        if document not in best or (score, key) > best[document]:
            best[document] = score, key
    return {document: key for document, (_, key) in best.items()}


def _scale_scores(scores: Mapping[Key, float], scale: _Scale) -> dict[Key, float]:
    zero, unit = scale
    return {key: (score - zero) / unit for key, score in scores.items()}


def _zero_scale(scores: Mapping[Key, float]) -> _Scale:
    return _Scale(0.0, max(scores.values()) or 1.0)


def _standard_scale(scores: Mapping[Key, float]) -> _Scale:
    """Return the standard scale. Where all scores are equal, any unit is right."""
    count = len(scores) or 1
    mean = sum(scores.values()) / count
    width = WIDTH * sqrt(sum([(score - mean) ** 2 for score in scores.values()]) / count) or 1.0
    return _Scale(mean - width / 2, width)
