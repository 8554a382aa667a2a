"""Metrics of a scorer's agreement with human preference (QSR appendix E), with bootstrap intervals.

Accuracy (Eq. 6) is the share of pairs in which the preferred report scores strictly higher. It is the area under the ROC curve
of pairs, except that a tie counts as wrong. The paired Cohen's d (Eq. 7) is the mean difference over the standard deviation of
the differences.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import TypeVar

from app.domain.missing import Missing
from training.rewards.score import Score

T = TypeVar("T")
RESAMPLES = 2_000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """A figure with its bootstrap interval."""

    value: float
    low: float
    high: float


def preference_accuracy(differences: Sequence[float]) -> Score:
    """Return the accuracy of Eq. 6 over the differences, preferred minus rejected."""
    return sum(d > 0 for d in differences) / len(differences) if differences else Missing("no pairs")


def cohens_d(differences: Sequence[float]) -> Score:
    """Return the d of Eq. 7; Missing where all differences are the same."""
    if not differences:
        return Missing("no pairs")
    spread = pstdev(differences)
    return fmean(differences) / spread if spread else Missing("all differences are the same")


def bootstrap(
    figure: Callable[[Sequence[T]], Score], values: Sequence[T], seed: int = 0, resamples: int = RESAMPLES
) -> BootstrapInterval | Missing:
    """Return the figure with its percentile interval over resampled values; the same seed gives the same interval.

    Resamples in which the figure is undefined are left out. The result is Missing where most are.
    """
    value = figure(values)
    if isinstance(value, Missing):
        return value
    generator = random.Random(seed)
    drawn = (figure(generator.choices(values, k=len(values))) for _ in range(resamples))
    found = sorted(score for score in drawn if not isinstance(score, Missing))
    if 2 * len(found) < resamples:
        return Missing("undefined in most resamples")
    tail = (1 - CONFIDENCE) / 2
    return BootstrapInterval(value, found[int(tail * len(found))], found[min(len(found) - 1, int((1 - tail) * len(found)))])
