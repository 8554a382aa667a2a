"""Wilson's interval of a rate, for a number of trials that was fixed before."""

import math
from typing import NamedTuple

NORMAL_95 = 1.959963984540054
"""The two-sided 95% quantile of the normal distribution."""


class RateInterval(NamedTuple):
    """A rate in [0, 1] with its interval."""

    rate: float
    low: float
    high: float


def wilson_interval(successes: int, n: int, z: float = NORMAL_95) -> RateInterval | None:
    """Return Wilson's score interval (1927), which keeps its level for few votes and rates near 0 or 1. None without votes."""
    if not n:
        return None
    rate = successes / n
    shrink = 1 + z**2 / n
    middle = (rate + z**2 / (2 * n)) / shrink
    half = z / shrink * math.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    # At 0 and 1 the formula equals the rate only up to rounding.
    return RateInterval(rate, min(rate, max(0.0, middle - half)), max(rate, min(1.0, middle + half)))
