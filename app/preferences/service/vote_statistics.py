"""Evaluate votes: strengths of ways of writing, and the information in one more vote."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

PRIOR_VOTES = 2.0
"""The number of votes on a pair that the strengths of its two ways are worth."""
ROUNDS = 200
CLOSE = 1e-9


class Contest(NamedTuple):
    """Votes between two ways: `wins` for the first, `losses` for it, `ties` (both bad counts as a tie)."""

    first: str
    second: str
    wins: int
    losses: int
    ties: int


def fit_strengths(contests: Iterable[Contest]) -> dict[str, float]:
    """Return Bradley-Terry strengths (positive, mean logarithm 0), by Hunter's MM algorithm (2004). A tie is half a win each.

    Each way also meets an average opponent in one tie, so that a way that never lost has a finite strength and ways that
    never met can be compared.
    """
    won: defaultdict[str, float] = defaultdict(lambda: 0.5)
    met: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for contest in contests:
        if contest.first == contest.second:
            continue
        won[contest.first] += contest.wins + contest.ties / 2
        won[contest.second] += contest.losses + contest.ties / 2
        for one, other in ((contest.first, contest.second), (contest.second, contest.first)):
            met[one][other] += contest.wins + contest.losses + contest.ties
    found = dict.fromkeys(sorted(won), 1.0)
    for _ in range(ROUNDS):
        again = {way: won[way] / _opposition_of(way, found, met[way]) for way in found}
        moved = max((abs(math.log(again[way] / found[way])) for way in found), default=0.0)
        found = again
        if moved < CLOSE:
            break
    mean = sum(math.log(strength) for strength in found.values()) / max(1, len(found))
    return {way: strength / math.exp(mean) for way, strength in found.items()}


def _opposition_of(way: str, found: Mapping[str, float], met: Mapping[str, float]) -> float:
    average = 1 / (found[way] + 1)
    return average + sum(n / (found[way] + found[other]) for other, n in met.items())


def predict_win(known: Mapping[str, float], first: str, second: str) -> float:
    """Return the chance that a report written the first way is preferred to one written the second; a half without any votes."""
    one, other = known.get(first, 1.0), known.get(second, 1.0)
    return 0.5 if first == second else one / (one + other)


def measure_information(chance: float, wins: int, losses: int, ties: int) -> float:
    """Return how much one more vote on a pair would tell: the expected fall of the variance of the preference.

    The pair's own votes and `chance` (what the strengths of its two ways predict, worth two votes) make a Beta distribution. Its
    variance is largest where the votes are few or split, so the measure covers pairs without votes first and then goes to those
    in dispute.
    """
    a = PRIOR_VOTES * chance + wins + ties / 2
    b = PRIOR_VOTES * (1 - chance) + losses + ties / 2
    n = a + b
    return a * b / (n**2 * (n + 1)) / (n + 1)
