"""The paired bootstrap over queries: all items of a query move together, before and after too."""

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from statistics import NormalDist

import numpy as np

from training.evaluation.intervals import Interval, student_quantile
from training.loop.gates.scores import MetricScores, Values

NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class Resampling:
    """How often queries are drawn anew, and from which seed."""

    resamples: int
    seed: int


def estimate_gain(scores: MetricScores, sign: int, relative: bool, alpha: float, how: Resampling) -> Interval:
    """Return the gain over at least two queries, with an interval that errs with a chance of `alpha` on each side.

    The gain is the difference after minus before, or its share of the value before, times `sign`. The interval is the bootstrap's
    by percentiles, accelerated for skewness (Efron, 1987, BCa, with the bias of a mean) and expanded as Student's interval is
    wider than the normal one (Hesterberg, 2015, section 4.3.3): without either, rare losses or few queries err too often.
    """
    n = len(scores.before)
    drawn = _draw_counts(n, how.resamples, how.seed) @ np.column_stack([scores.before, scores.after])
    gains = sign * _measure_change(drawn[:, 0], drawn[:, 1], relative)
    distance = student_quantile(n - 1, 1 - 2 * alpha) * sqrt(n / (n - 1))
    bend = sign * _measure_skewness(_list_residuals(scores, relative)) / (6 * sqrt(n))
    tails = [NormalDist().cdf(bend + (bend + z) / (1 - bend * (bend + z))) for z in (-distance, distance)]
    low, high = np.quantile(gains, tails)
    value = sign * _measure_change(scores.before.mean(), scores.after.mean(), relative)
    return Interval(float(value), float(low), float(high))


def measure_spread(scores: MetricScores, relative: bool) -> float:
    """Return the standard deviation over queries of what each adds to the change."""
    return float(_list_residuals(scores, relative).std(ddof=1))


def _measure_change(before: Values | np.float64, after: Values | np.float64, relative: bool) -> Values | np.float64:
    return (after - before) / before if relative else after - before


def _list_residuals(scores: MetricScores, relative: bool) -> Values:
    """Return what each query adds to the difference of means, or to their ratio."""
    before, after = scores.before, scores.after
    return (after - after.mean() / before.mean() * before) / before.mean() if relative else after - before


def _measure_skewness(values: Values) -> float:
    spread = values.std()
    return float((((values - values.mean()) / spread) ** 3).mean()) if spread > NO_SPREAD else 0.0


@lru_cache(maxsize=12)
def _draw_counts(n: int, resamples: int, seed: int) -> Values:
    """Return how often each of `n` queries is drawn, divided by `n`, in a row for each resample."""
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples)
    return counts / n
