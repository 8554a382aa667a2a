"""What a test of votes could have seen by now: the chance that a loss is shown, and the smallest loss with an even chance.

The chances are exact: they come from the distribution of wins after each vote, among the paths that have not crossed before.
"""

from functools import lru_cache
from itertools import accumulate

from app.statistics.beta_mixture import ALPHA, is_below
from app.statistics.bisection import find_edge

EVEN = 0.5


def list_seen_chances(win_rate: float, votes: int, alpha: float = ALPHA) -> list[float]:
    """Return for each number of votes from 1 the chance that a true win rate is by then shown to be below a half."""
    limits = _list_losing_wins(votes, alpha)
    waiting, newly_seen = [1.0], []
    for limit in limits:
        lost, won = [chance * (1 - win_rate) for chance in waiting], [chance * win_rate for chance in waiting]
        waiting = [one + other for one, other in zip([*lost, 0.0], [0.0, *won], strict=True)]
        newly_seen.append(sum(waiting[: limit + 1]))
        waiting[: limit + 1] = [0.0] * (limit + 1)
    return list(accumulate(newly_seen))


def find_median_votes(win_rate: float, most: int, alpha: float = ALPHA) -> int | None:
    """Return after how many votes an even chance is reached that this loss has been seen; None where `most` are not enough."""
    return next((n for n, chance in enumerate(list_seen_chances(win_rate, most, alpha), 1) if chance >= EVEN), None)


def find_smallest_loss(votes: int, alpha: float = ALPHA, chance: float = EVEN) -> float | None:
    """Return the win rate, nearest to a half, that this number of votes had at least this chance to show as a loss.

    None where even a candidate that loses every vote could not have been seen.
    """

    def is_seen(win_rate: float) -> bool:
        return votes > 0 and list_seen_chances(win_rate, votes, alpha)[-1] >= chance

    return find_edge(is_seen, 0.0, EVEN) if is_seen(0.0) else None


@lru_cache(maxsize=8)
def _list_losing_wins(votes: int, alpha: float) -> tuple[int, ...]:
    """Return for each number of votes the most wins that show a loss; -1 where none do."""
    found, wins = [], -1
    for n in range(1, votes + 1):
        while wins + 1 < n and is_below(wins + 1, n - wins - 1, EVEN, alpha):
            wins += 1
        found.append(wins)
    return tuple(found)
