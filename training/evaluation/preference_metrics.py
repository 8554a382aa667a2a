"""Metrics of a scorer's agreement with human preference (QSR appendix E).

Accuracy (Eq. 6) is the share of pairs in which the preferred report scores strictly higher. It is the area under the ROC curve
of pairs, except that a tie counts as wrong. The paired Cohen's d (Eq. 7) is the mean difference over the standard deviation of
the differences: of the sample; as published, the root of the variance itself, which makes a d of few pairs larger.
"""

from collections.abc import Sequence
from math import isfinite
from statistics import fmean, pstdev, stdev

from app.domain.missing import Missing
from training.rewards.score import Score


def preference_accuracy(differences: Sequence[float]) -> Score:
    """Return the accuracy of Eq. 6 over the differences, preferred minus rejected.

    Raises:
        ValueError: a difference is NaN or infinite.
    """
    _require_numbers(differences)
    return sum(d > 0 for d in differences) / len(differences) if differences else Missing("no pairs")


def cohens_d(differences: Sequence[float], published: bool = False) -> Score:
    """Return the d of Eq. 7; Missing where all differences are the same, and of one pair.

    Raises:
        ValueError: a difference is NaN or infinite.
    """
    _require_numbers(differences)
    if len(differences) < 2:
        return Missing("fewer than two pairs")
    spread = pstdev(differences) if published else stdev(differences)
    return fmean(differences) / spread if spread else Missing("all differences are the same")


def _require_numbers(differences: Sequence[float]) -> None:
    if not all(map(isfinite, differences)):
        raise ValueError("a difference is no number")
