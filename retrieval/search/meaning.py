"""Comparing texts with a query by meaning, for what no index has vectors of: sentences, and passages not yet encoded."""

from collections.abc import Callable, Sequence

import numpy as np

from retrieval.encoding.encoder import Encoder
from retrieval.encoding.recent_vectors import RecentVectors

KEPT_VECTORS = 16_384
"""The vectors that stay in memory, 1.5 KB each: those of the sentences and passages of about forty questions."""


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
