"""A test of the mean of bounded values, and its confidence sequence, which may be read after every value.

Each value, scaled to [0, 1], is a bet against the hypothesis that the mean is m:

    wealth above = product of 1 + b_i (x_i - m),    wealth below = product of 1 - b_i (x_i - m).

The size b_i of a bet depends on earlier values only. If the mean is at most m, the first wealth ever reaches 1 / alpha with a
chance of at most alpha (Ville, 1939); if it is at least m, so does the second. No normality is assumed, and no number of values
is fixed before. The bets grow where values vary little, so that small differences of quiet figures are seen early.

Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (2024): sizes by their predictable
plug-in, truncated so that no bet loses more than three quarters of the wealth; the hedged interval of their Theorem 3.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, inf, log, log1p, sqrt

from app.statistics.beta_mixture import ALPHA
from app.statistics.bisection import find_edge

MOST_LOST = 0.75
"""The largest share of the wealth that one bet may lose."""


class BetSizes:
    """The sizes of bets: large where the values so far vary little, and smaller with time."""

    def __init__(self, alpha: float) -> None:
        self._log = 2 * log(2 / alpha)
        self._n, self._sum, self._squares = 1, 0.5, 0.25

    def next_size(self, value: float) -> float:
        """Return the size of the bet on this value, which does not depend on it, and learn from the value."""
        size = sqrt(self._log / (self._squares * log1p(self._n)))
        self._n, self._sum = self._n + 1, self._sum + value
        self._squares += (value - self._sum / self._n) ** 2
        return size


def log_wealth(value: float, mean: float, size: float) -> float:
    """Return what one bet on a mean above this one adds to the logarithm of the wealth; value and mean are in [0, 1]."""
    return log1p(min(size, MOST_LOST / mean if mean else inf) * (value - mean))


class MeanTest:
    """The bets of values between `low` and `high` against one mean strictly between them, on both sides."""

    def __init__(self, mean: float, low: float, high: float, alpha: float = ALPHA) -> None:
        self._low, self._range = low, high - low
        self._mean = (mean - low) / self._range
        self._sizes = BetSizes(alpha)
        self.log_above = self.log_below = 0.0

    def observe(self, value: float) -> None:
        """Bet on one value. A value outside of the bounds counts as the nearer bound."""
        value = min(1.0, max(0.0, (value - self._low) / self._range))
        size = self._sizes.next_size(value)
        self.log_above += log_wealth(value, self._mean, size)
        self.log_below += log_wealth(1 - value, 1 - self._mean, size)


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean with its interval."""

    mean: float
    low: float
    high: float


def mean_interval(values: Sequence[float], low: float, high: float, alpha: float = ALPHA) -> MeanInterval:
    """Return the mean of values in [low, high], and the interval of means that they do not contradict, half of alpha a side."""
    if not values:
        return MeanInterval((low + high) / 2, low, high)
    scaled = [(value - low) / (high - low) for value in values]
    sizes = BetSizes(alpha)
    bets = [(value, sizes.next_size(value)) for value in scaled]
    least = _find_least(bets, alpha)
    most = 1 - _find_least([(1 - value, size) for value, size in bets], alpha)
    return MeanInterval(fsum(values) / len(values), low + (high - low) * least, low + (high - low) * most)


def _find_least(bets: Iterable[tuple[float, float]], alpha: float) -> float:
    """Return the least mean that bets on a larger one do not contradict: their wealth falls as the mean rises."""
    bets = list(bets)

    def is_open(mean: float) -> bool:
        return fsum(log_wealth(value, mean, size) for value, size in bets) < log(2 / alpha)

    return find_edge(is_open, 1.0, 0.0)
