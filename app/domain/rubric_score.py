"""Turn the scores of a rubric's items into one number: as published (QSR Eq. 2, DeepRubric Eq. 4), and bounded (ADR 0025)."""

from collections.abc import Sequence
from enum import StrEnum
from math import isfinite
from typing import NamedTuple

from app.domain.missing import Missing

NO_WEIGHT = Missing("the rubric has no weight")


class ScoredItem(NamedTuple):
    """An item's weight, and how far the report matches it, from 0 to 1."""

    weight: float
    score: float


class Aggregation(StrEnum):
    """The way in which items become one score.

    `published` is the mean of Eq. 2, which divides by the sum of signed weights: with items that describe errors it can lie
    outside [0, 1], and means nothing as the sum nears zero. `bounded` divides by the positive weights alone, and ends at 0.
    """

    PUBLISHED = "published"
    BOUNDED = "bounded"


def rubric_score(items: Sequence[ScoredItem], by: Aggregation = Aggregation.BOUNDED) -> float | Missing:
    """Return the score of a report. Without negative weights both ways are the same. NaN and infinity are no scores."""
    if not all(isfinite(value) for item in items for value in item):
        return Missing("a weight or a score is not a finite number")
    return published_score(items) if by is Aggregation.PUBLISHED else bounded_score(items)


def published_score(items: Sequence[ScoredItem]) -> float | Missing:
    """Return Eq. 2 literally; unbounded where weights are negative, missing where they sum to zero."""
    total = sum(item.weight for item in items)
    return sum(item.weight * item.score for item in items) / total if total else NO_WEIGHT


def bounded_score(items: Sequence[ScoredItem]) -> float | Missing:
    """Return the credit for demands less a penalty for faults, over all demands: from 0 to 1, never higher for a fault.

    The score is missing where nothing is asked.
    """
    asked = sum(item.weight for item in items if item.weight > 0)
    return max(0.0, sum(item.weight * item.score for item in items) / asked) if asked else NO_WEIGHT
