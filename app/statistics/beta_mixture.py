"""The Beta mixture test of a rate, which may be read after every vote.

Under the hypothesis that the rate is p, each vote is a fair bet, and so is a mixture of bets over all rates. The wealth of that
mixture, which begins with 1, is

    B(1 + wins, 1 + losses) / (p^wins (1 - p)^losses),

where B is Euler's Beta function (the mixture is uniform, a Beta(1, 1) distribution). By Ville's inequality (1939) it ever
reaches 1 / alpha with a chance of at most alpha, however often one looks. The rates that it spares are a confidence sequence.

Sources: Robbins, "Statistical methods related to the law of the iterated logarithm" (1970), section 4; Howard, Ramdas, McAuliffe
and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences" (2021), section 3.2 (Beta-binomial mixtures).
"""

from math import inf, lgamma, log, log1p

from app.statistics.bisection import find_edge
from app.statistics.wilson import RateInterval

ALPHA = 0.05


def log_evidence(wins: int, losses: int, rate: float) -> float:
    """Return the logarithm of the wealth of bets against a rate in [0, 1]; infinite where the votes are impossible under it."""
    if (wins and rate == 0) or (losses and rate == 1):
        return inf
    mixture = lgamma(1 + wins) + lgamma(1 + losses) - lgamma(2 + wins + losses)
    return mixture - (wins * log(rate) if wins else 0.0) - (losses * log1p(-rate) if losses else 0.0)


def is_below(wins: int, losses: int, rate: float, alpha: float = ALPHA) -> bool:
    """Tell whether the votes show by now that the true rate is below this one."""
    return wins < rate * (wins + losses) and log_evidence(wins, losses, rate) >= -log(alpha)


def is_above(wins: int, losses: int, rate: float, alpha: float = ALPHA) -> bool:
    """Tell whether the votes show by now that the true rate is above this one."""
    return is_below(losses, wins, 1 - rate, alpha)


def rate_interval(wins: int, losses: int, alpha: float = ALPHA) -> RateInterval:
    """Return the rate with the interval of all rates that the votes do not contradict. Without votes it is all of [0, 1]."""
    if not wins + losses:
        return RateInterval(0.5, 0.0, 1.0)
    rate = wins / (wins + losses)

    def is_open(other: float) -> bool:
        return log_evidence(wins, losses, other) < -log(alpha)

    return RateInterval(rate, find_edge(is_open, rate, 0.0), find_edge(is_open, rate, 1.0))
