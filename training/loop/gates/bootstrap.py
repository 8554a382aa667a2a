"""The paired bootstrap over queries: all items of a query move together, before and after too."""

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from statistics import NormalDist

import numpy as np

from training.evaluation.intervals import Interval, student_quantile
from training.loop.gates.scores import MetricScores, Values


@dataclass(frozen=True, slots=True)
class Resampling:
    """How often queries are drawn anew, and from which seed."""

    resamples: int
    seed: int


def estimate_gain(scores: MetricScores, sign: int, relative: bool, alpha: float, how: Resampling) -> Interval:
    """Return the gain over at least two queries, with an interval that errs with a chance of `alpha` on each side.

    The gain is the difference after minus before, or its share of the value before, times `sign`. The interval is the
    bootstrap's by percentiles, expanded as Student's interval is wider than the normal one (Hesterberg, 2015, section 4.3.3):
    without that, few queries err too often. Two queries are added, one as far above the mean difference as any lies from it and
    one as far below, so that a change which few queries have shown counts as one that others may show.
    """
    before, after = _add_outliers(scores)
    n = len(scores.before)
    counts = _draw_counts(len(before), how.resamples, how.seed)
    drawn = sign * _measure_change(counts @ before, counts @ after, relative)
    tail = NormalDist().cdf(-student_quantile(n - 1, 1 - 2 * alpha) * sqrt(n / (n - 1)))
    low, high = np.quantile(drawn, [tail, 1 - tail])
    value = sign * _measure_change(scores.before.mean(), scores.after.mean(), relative)
    return Interval(float(value), float(low), float(high))


def measure_spread(scores: MetricScores, relative: bool) -> float:
    """Return the standard deviation over queries of what each adds to the difference, with the two that are added to them."""
    before, after = _add_outliers(scores)
    ratio = after.mean() / before.mean() if relative else 1.0
    residuals = (after - ratio * before) / (before.mean() if relative else 1.0)
    return float(residuals.std(ddof=1))


def _measure_change(before: Values | np.float64, after: Values | np.float64, relative: bool) -> Values | np.float64:
    return (after - before) / before if relative else after - before


def _add_outliers(scores: MetricScores) -> tuple[Values, Values]:
    difference = scores.after - scores.before
    reach = np.abs(difference - difference.mean()).max()
    centre = scores.before.mean()
    after = centre + difference.mean() + np.array([reach, -reach])
    return np.append(scores.before, [centre, centre]), np.append(scores.after, after)


@lru_cache(maxsize=2)
def _draw_counts(n: int, resamples: int, seed: int) -> Values:
    """Return how often each of `n` queries is drawn, divided by `n`, in a row for each resample."""
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples)
    return counts / n
