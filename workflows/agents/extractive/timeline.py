"""Dividing years into a few spans, each with its share of what was found and with edges a reader can remember."""

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

YEARS_PER_BIN = 5
FULL_SPAN = 30


class Span(NamedTuple):
    """Years from `first` to `last`, both included, both years in which something was found."""

    first: int
    last: int


def divide(years: Sequence[int], most: int) -> list[Span]:
    """At most `most` spans that cover all years, cut where the mass of finds (its square root, so that no peak takes all) is
    even."""
    bins = Counter(year // YEARS_PER_BIN for year in years)
    order = sorted(bins)
    wanted = max(1, min(most, len(order), (max(years) - min(years)) // FULL_SPAN + 1))
    weights = [sqrt(bins[b]) for b in order]
    edges = _cuts(order, weights, wanted)
    spans: list[Span] = []
    for start, stop in zip([0, *edges], [*edges, len(order)], strict=True):
        inside = [year for year in years if order[start] <= year // YEARS_PER_BIN <= order[stop - 1]]
        spans.append(Span(min(inside), max(inside)))
    return spans


def _cuts(order: Sequence[int], weights: Sequence[float], wanted: int) -> list[int]:
    """Positions to cut before, so that the parts' squared masses are least; a cut inside a gap of years is preferred."""
    size = len(weights)
    prefix = [0.0]
    for weight in weights:
        prefix.append(prefix[-1] + weight)
    best: list[list[tuple[float, int]]] = [[(float("inf"), 0)] * (size + 1) for _ in range(wanted + 1)]
    best[0][0] = (0.0, 0)
    for parts in range(1, wanted + 1):
        for stop in range(parts, size + 1):
            best[parts][stop] = min(
                (best[parts - 1][start][0] + _cost(order, prefix, start, stop), start) for start in range(parts - 1, stop)
            )
    cuts: list[int] = []
    stop = size
    for parts in range(wanted, 1, -1):
        stop = best[parts][stop][1]
        cuts.append(stop)
    return cuts[::-1]


def _cost(order: Sequence[int], prefix: Sequence[float], start: int, stop: int) -> float:
    """The squared mass of a part, plus the square of its own gaps in years: long silences should fall between parts."""
    gaps = sum((order[i] - order[i - 1] - 1) ** 2 for i in range(start + 1, stop))
    return (prefix[stop] - prefix[start]) ** 2 + gaps
