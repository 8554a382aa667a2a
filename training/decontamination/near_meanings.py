"""Near-duplicates by meaning: texts whose embeddings are alike, though they share few words.

The least cosine was chosen for all-MiniLM-L6-v2 with `bench.leakage --embedding`: the lowest that links no two questions of
the multi-hop set or of the three sets on which it was judged. Cosines of another model mean something else, so none is used.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from retrieval.encoding.encoder import Encoder

MODEL = "minilm-l6-v2"
ALIKE = 0.7
BLOCK = 1_000


def name_measure(encoder: Encoder | None) -> str:
    """Name the measure by which near-duplicates are found with this encoder."""
    if encoder is None or not encoder.name.startswith(MODEL):
        return "words"
    return f"words, and in English meaning by {encoder.name}"


def list_near_meanings(encoder: Encoder | None, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of each two texts that mean nearly the same; none without the encoder that the limit is for."""
    if encoder is None or not encoder.name.startswith(MODEL):
        return
    places = np.array([place for place, text in enumerate(texts) if encoder.can_read(text)], dtype=int)
    if len(places) < 2:
        return
    vectors = encoder.encode_passages([texts[place] for place in places])
    for start in range(0, len(places), BLOCK):
        ones, others = np.nonzero(vectors[start : start + BLOCK] @ vectors.T >= ALIKE)
        for one, other in zip(places[ones + start].tolist(), places[others].tolist(), strict=True):
            if one < other:
                yield one, other
