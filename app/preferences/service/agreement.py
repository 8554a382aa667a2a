"""Measure how far annotators agree beyond chance: Cohen's kappa for two, Fleiss' kappa for many.

Chance agreement of 1 (everybody always gave the same answer) leaves kappa undefined: 0/0. It is None then, never 1 or 0: the
data cannot tell agreement from a habit, and the observed agreement stands beside it. It is also None when no item was judged
by two people.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

T = TypeVar("T", bound=Hashable)
LEAST_RATERS = 2
ROUNDING = 1e-12


class Agreement(NamedTuple):
    """Agreement over `items` that several people judged: `observed` in [0, 1], `kappa` at most 1; None: undefined."""

    items: int
    observed: float | None
    kappa: float | None


def cohens_kappa(first: Sequence[T], second: Sequence[T]) -> Agreement:
    """Return Cohen's kappa (1960): two annotators, the same items in the same order, each with its own chance rates.

    Raises:
        ValueError: the two sequences have different lengths.
    """
    if len(first) != len(second):
        raise ValueError("both annotators must have judged the same items")
    n = len(first)
    if not n:
        return Agreement(0, None, None)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    mine, theirs = Counter(first), Counter(second)
    by_chance = sum(mine[answer] * theirs[answer] for answer in mine) / n**2
    return Agreement(n, observed, _beyond_chance(observed, by_chance))


def fleiss_kappa(items: Sequence[Sequence[T]]) -> Agreement:
    """Return Fleiss' kappa (1971): any number of annotators, who need not be the same for each item.

    Items with one answer say nothing about agreement and are left out. Where items have different numbers of answers, each item
    counts once and the rates of the answers are taken over all answers; with equal numbers this is Fleiss' own formula.
    """
    judged = [Counter(answers) for answers in items if len(answers) >= LEAST_RATERS]
    if not judged:
        return Agreement(0, None, None)
    observed = sum(_agreeing_share_of(counts) for counts in judged) / len(judged)
    together = sum(judged, Counter[T]())
    by_chance = sum((count / together.total()) ** 2 for count in together.values())
    return Agreement(len(judged), observed, _beyond_chance(observed, by_chance))


def pairwise_kappas(answers: Mapping[str, Mapping[str, T]]) -> dict[tuple[str, str], Agreement]:
    """Return Cohen's kappa of every two annotators over the items both judged. `answers` is annotator -> item -> answer."""
    found: dict[tuple[str, str], Agreement] = {}
    for one, other in combinations(sorted(answers), 2):
        both = sorted(answers[one].keys() & answers[other].keys())
        found[one, other] = cohens_kappa([answers[one][item] for item in both], [answers[other][item] for item in both])
    return found


def _agreeing_share_of(counts: Counter[T]) -> float:
    """Return the share of pairs of answers to one item that are alike."""
    n = counts.total()
    return sum(count * (count - 1) for count in counts.values()) / (n * (n - 1))


def _beyond_chance(observed: float, by_chance: float) -> float | None:
    return None if 1 - by_chance < ROUNDING else (observed - by_chance) / (1 - by_chance)
