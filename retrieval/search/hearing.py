"""Several collections searched at once: each that has something good is heard, however much another one has.

One ranking over all of them is right about single passages and hard on collections: where one has fifty papers on a thing and the
other one good article, or names the thing more rarely so that its word counts more, the first places are all of one kind.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

EVEN = 2
"""A collection is owed this part of an even share: a quarter of the places where two are searched."""


class Candidate(NamedTuple):
    """What a place in the ranking is given by: the collection, the document, and whether each half of the search puts it above
    the average of all candidates."""

    collection: str
    document: str
    good: bool


Ranked = TypeVar("Ranked")


def heard(ranked: Sequence[Ranked], seen_as: Sequence[Candidate], limit: int) -> list[Ranked]:
    """The ranking (best first; `seen_as` in the same order) with what is owed to each collection among the first `limit`.

    Good candidates move up, of different documents first; the last of whoever has more than is owed make room and follow. One
    collection alone, or too few places for all, change nothing; nor does a collection that has nothing good.
    """
    collections = sorted({candidate.collection for candidate in seen_as})
    if len(collections) < 2 or limit < len(collections):
        return list(ranked)
    owed = max(1, limit // (EVEN * len(collections)))
    first = list(range(min(limit, len(ranked))))
    for collection in collections:
        lacking = owed - sum(seen_as[place].collection == collection for place in first)
        for place in _good(seen_as, collection, set(first))[: max(0, lacking)]:
            last = _last_of_the_many(first, seen_as, owed)
            if last is None:
                break
            first.remove(last)
            first.append(place)
    taken = set(first)
    order = sorted(first) + [place for place in range(len(ranked)) if place not in taken]
    return [ranked[place] for place in order]


def _good(seen_as: Sequence[Candidate], collection: str, taken: set[int]) -> list[int]:
    """Places of a collection's good candidates that are not among the first, the best of each document before its others."""
    times: Counter[str] = Counter(seen_as[place].document for place in taken)
    found: list[tuple[int, int]] = []
    for place, candidate in enumerate(seen_as):
        if candidate.collection == collection and candidate.good and place not in taken:
            found.append((times[candidate.document], place))
            times[candidate.document] += 1
    return [place for _, place in sorted(found)]


def _last_of_the_many(first: Sequence[int], seen_as: Sequence[Candidate], owed: int) -> int | None:
    """The worst place of a collection that has more than is owed."""
    counts = Counter(seen_as[place].collection for place in first)
    return max((place for place in first if counts[seen_as[place].collection] > owed), default=None)
