"""Metrics of rankings against labelled documents, over the first ten: nDCG, recall, rank of the first relevant document."""

import math
from collections.abc import Mapping, Sequence

DEPTH = 10


def ndcg(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return the normalised discounted cumulative gain of the first ten documents."""
    gain = sum(grades.get(document, 0) / math.log2(place + 2) for place, document in enumerate(ranking[:DEPTH]))
    ideal = sum(grade / math.log2(place + 2) for place, grade in enumerate(sorted(grades.values(), reverse=True)[:DEPTH]))
    return gain / ideal


def recall(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return the share of the relevant documents that are among the first ten."""
    return len(grades.keys() & set(ranking[:DEPTH])) / len(grades)


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return one over the place of the first relevant document; 0 where none is among the first ten."""
    return next((1 / place for place, document in enumerate(ranking[:DEPTH], 1) if document in grades), 0.0)
