"""The map of a set's queries beside those of public sets (DeepRubric Figure 4): their embeddings in the plane, with densities.

The paper projects with t-SNE. Here the plane has the two principal components: they need no parameter, give the same picture
each time, and the share of the spread that they show can be told; groups that differ in other directions lie on each other.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.encoding.encoder import Encoder, Vectors
from training.pages.plots import draw_map
from training.synthesis.training_set.outcome import KeptRow

OWN = "this set"
MOST = 500
"""The most queries of each set in the map, drawn by a hash."""
FEWEST = 5
DECIMALS = 3
Points = NDArray[np.float64]


def render_query_map(encoder: Encoder | None, rows: Iterable[KeptRow], public: Mapping[str, Sequence[str]]) -> str:
    """Render the map of the queries that the encoder can read; empty without an encoder, or with too few queries."""
    if encoder is None:
        return ""
    groups = {OWN: [row.query for row in rows], **public}
    shown = {name: _draw_sample([text for text in texts if encoder.can_read(text)]) for name, texts in groups.items()}
    if len(shown[OWN]) < FEWEST:
        return ""
    points, share = project(encoder.encode_passages([text for texts in shown.values() for text in texts]))
    ends = np.cumsum([len(texts) for texts in shown.values()])[:-1]
    placed = dict(zip(shown, np.split(points, ends), strict=True))
    svg = draw_map("queries, with the density of this set's", {n: [(x, y) for x, y in own.tolist()] for n, own in placed.items()})
    told = f"Embeddings by {encoder.name} on two principal components, which have {share:.0%} of the spread."
    return f"<h2>Queries beside public sets</h2><p>{told}</p>{svg}"


def project(vectors: Vectors) -> tuple[Points, float]:
    """Return the vectors, (n, d), on their two principal components, (n, 2), and these components' share of the variance.

    The larger end of each component is positive.
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    points = centred @ axes[:2].T
    points *= np.sign(points[np.abs(points).argmax(axis=0), [0, 1]])
    return points.round(DECIMALS), float((sizes[:2] ** 2).sum() / (sizes**2).sum())


def _draw_sample(texts: Sequence[str]) -> list[str]:
    return sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())[:MOST]
