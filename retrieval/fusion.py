"""Join the word half and the meaning half of a hybrid search.

Equal-weight min-max score fusion: each half's scores are stretched to 0..1 over its candidates and averaged; what only one
half found counts zero in the other. Against reciprocal ranks it keeps how much better the best hit is (see bench/README.md).
"""

from collections.abc import Mapping

Key = tuple[str, int]
"""A candidate: an index and its number in it."""


def fuse(sparse: Mapping[Key, float], dense: Mapping[Key, float] | None) -> list[tuple[Key, float]]:
    """Candidates with their fused score in 0..1, best first; `dense` is None where there are no dense vectors yet."""
    halves = (sparse,) if dense is None else (sparse, dense)
    fused: dict[Key, float] = {}
    for scores in halves:
        low = min(scores.values(), default=0.0)
        width = max(scores.values(), default=0.0) - low
        for key, score in scores.items():
            stretched = (score - low) / width if width > 0 else 1.0
            fused[key] = fused.get(key, 0.0) + stretched / len(halves)
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))
