"""Join the word half and the meaning half of a hybrid search.

Equal-weight min-max score fusion: each half's scores are stretched to 0..1 over its candidates and averaged; what only one
half found counts zero in the other. Against reciprocal ranks it keeps how much better the best hit is (see bench/README.md).
"""

from collections.abc import Mapping

Key = tuple[str, int]
"""A candidate: an index and its number in it."""


def fuse(sparse: Mapping[Key, float], dense: Mapping[Key, float] | None) -> list[tuple[Key, float]]:
    """Candidates with their fused score in 0..1, best first; `dense` is None where there are no dense vectors yet."""
    words = _stretched(sparse)
    if dense is None:
        fused = words
    else:
        meaning = _stretched(dense)
        fused = {key: (words.get(key, 0.0) + meaning.get(key, 0.0)) / 2 for key in words.keys() | meaning.keys()}
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))


def _stretched(scores: Mapping[Key, float]) -> dict[Key, float]:
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    width = high - low
    return {key: (score - low) / width if width > 0 else 1.0 for key, score in scores.items()}
