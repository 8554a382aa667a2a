"""Comparing texts with a query by meaning, for what no index has vectors of: sentences, and passages not yet encoded."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from retrieval.encoding.encoder import Encoder
from retrieval.encoding.recent_vectors import RecentVectors

KEPT_VECTORS = 16_384
"""The vectors that stay in memory, 1.5 KB each: those of the sentences and passages of about forty questions."""
LEAST_COMPARED = 100
"""The fewest passages that a search compares on the spot, of up to 200. Each takes a core 20 ms, while somebody waits; with more
than these, and than three for each wanted one, as much of the gold of `bench.brief` is among those that are found."""
Key = TypeVar("Key")


def choose_compared(scores: Mapping[Key, float], most: int) -> list[Key]:
    """Return the passages that are best by words, and worth comparing where there are no vectors: `most`, or a few more."""
    return sorted(scores, key=lambda key: -scores[key])[: max(LEAST_COMPARED, most)]


class TextComparer:
    """A comparer of texts with queries. Threads may share it.

    `encoder` is called at each comparison; it returns None where there is none.
    """

    def __init__(self, encoder: Callable[[], Encoder | None]) -> None:
        self._encoder = encoder
        self._recent = RecentVectors(KEPT_VECTORS)

    def compare(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine of the query with each text; empty where nothing can encode the query's language."""
        encoder = self._encoder()
        if encoder is None or not texts or not encoder.can_read(query):
            return []
        vectors = np.stack(self._recent.encode(encoder, texts))
        return [float(cosine) for cosine in vectors @ np.asarray(encoder.encode_query(query), np.float32)]
