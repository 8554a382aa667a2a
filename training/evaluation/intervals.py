"""95% intervals of figures over items: Wilson's for shares, Hall's for other figures, Student's for paired differences.

A figure is anything that is computed over all items: a mean, a ratio of sums, an effect size. Its jackknife values, one an item,
say what each item adds; for a mean, and so for a share, they are the items' own values. Hall's interval (1992) is Student's
with a correction for skewness. Student's own is kept for differences: without a difference they are symmetric, and Hall's calls
too many equal systems different. Tests simulate how often each covers the truth; docs/evaluation.md says where it does not.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import NormalDist, fmean, stdev
from typing import TypeVar

from app.domain.missing import Missing
from app.statistics.wilson import wilson_interval
from training.rewards.score import Score, require_present

T = TypeVar("T")
CONFIDENCE = 0.95
MOST_GROUPS = 200
TOLERANCE = 1e-9
FEWEST, FEWEST_SKEWED = 2, 5


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its interval."""

    value: float
    low: float
    high: float


def estimate_figure(figure: Callable[[Sequence[T]], Score], values: Sequence[T]) -> Interval | Missing:
    """Return a figure with its interval: Wilson's where every item adds 0 or 1, else Hall's.

    Raises:
        ValueError: the figure is NaN or infinite.
    """
    return _estimate(figure, values, lambda value, added: _hall(value, added) if {*added} - {0.0, 1.0} else share_interval(added))


def estimate_difference(figure: Callable[[Sequence[T]], Score], pairs: Sequence[T]) -> Interval | Missing:
    """Return a figure of pairs, second minus first, with Student's interval.

    Raises:
        ValueError: the difference is NaN or infinite.
    """
    return _estimate(figure, pairs, _student)


def share_interval(has: Sequence[float]) -> Interval:
    """Return Wilson's interval of the share of items that have 1, not 0. One item is enough."""
    found = wilson_interval(round(sum(has)), len(has))
    assert found is not None, "no items"
    return Interval(*found)


def _estimate(
    figure: Callable[[Sequence[T]], Score], values: Sequence[T], enclose: Callable[[float, list[float]], Interval]
) -> Interval | Missing:
    value = figure(values)
    if isinstance(value, Missing):
        return value
    if not math.isfinite(value):
        raise ValueError(f"a figure is {value}: some item has a value that is no number")
    if len(values) < FEWEST:
        return Missing("one item has no interval")
    added = _list_added(figure, value, values)
    return added if isinstance(added, Missing) else enclose(value, added)


def _list_added(figure: Callable[[Sequence[T]], Score], value: float, values: Sequence[T]) -> list[float] | Missing:
    """Return what each item adds; of many items of a figure that is no mean, what each of 200 groups adds."""
    alone = [figure([one]) for one in values]
    single = require_present(alone)
    if not isinstance(single, Missing) and math.isclose(fmean(single), value, abs_tol=TOLERANCE):
        return single
    n = min(len(values), MOST_GROUPS)
    groups = [values[i::n] for i in range(n)]
    others = require_present(figure([*chain(*groups[:i], *groups[i + 1 :])]) for i in range(n))
    if isinstance(others, Missing):
        return Missing(f"undefined without some of the items ({others.reason})")
    return [n * value - (n - 1) * other for other in others]


def _student(value: float, added: Sequence[float]) -> Interval:
    half = student_quantile(len(added) - 1) * stdev(added) / math.sqrt(len(added))
    return Interval(value, value - half, value + half)


def _hall(value: float, added: Sequence[float]) -> Interval:
    """Return Student's interval with Hall's correction, a third of the skewness over the root of the number of items."""
    n, spread, mean = len(added), stdev(added), fmean(added)
    skew = (
        math.fsum(((one - mean) / spread) ** 3 for one in added) * n / ((n - 1) * (n - 2))
        if spread and n >= FEWEST_SKEWED
        else 0.0
    )
    if abs(skew) < 1e-6:
        return _student(value, added)
    bend, t = skew / (3 * math.sqrt(n)), student_quantile(n - 1)
    low, high = ((math.cbrt(1 + 3 * bend * (side - bend / 2)) - 1) / bend for side in (t, -t))
    error = spread / math.sqrt(n)
    return Interval(value, value - error * low, value - error * high)


def student_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Return the quantile of Student's distribution that leaves half of 1 - `confidence` above it.

    The expansion of Cornish and Fisher is exact to about a thousandth at the default confidence.
    """
    if freedom == 1:
        return math.tan(math.pi * confidence / 2)
    if freedom == 2:
        return confidence * math.sqrt(2 / (1 - confidence**2))
    z, n = NormalDist().inv_cdf((1 + confidence) / 2), freedom
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )
