"""The share of each collection in a search of several: one with good passages gets places, however many another one has.

One ranking over all is fair to passages and unfair to collections: where one collection has fifty papers on a topic and another
one good article, the first places would all go to the papers.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

EVEN = 2
"""Each collection is owed an even share divided by this: a quarter of the places where two are searched."""


class RankedCandidate(NamedTuple):
    """A ranked candidate: its collection, its document, and whether both halves of the search put it above their average."""

    collection: str
    document: str
    good: bool


Ranked = TypeVar("Ranked")


def share_places(ranked: Sequence[Ranked], seen_as: Sequence[RankedCandidate], limit: int) -> list[Ranked]:
    """Reorder a ranking (best first; `seen_as` in the same order) so that the first `limit` have each collection's share.

    Good candidates move up, those of different documents first. The last ones of a collection with more than its share move down.
    Nothing changes for a single collection, or where there are fewer places than collections, or without good candidates.
    """
    collections = sorted({candidate.collection for candidate in seen_as})
    if len(collections) < 2 or limit < len(collections):
        return list(ranked)
    owed = max(1, limit // (EVEN * len(collections)))
    first = list(range(min(limit, len(ranked))))
    for collection in collections:
        lacking = owed - sum(seen_as[place].collection == collection for place in first)
        for place in _find_good(seen_as, collection, set(first))[: max(0, lacking)]:
            last = _find_surplus(first, seen_as, owed)
            if last is None:
                break
            first.remove(last)
            first.append(place)
    taken = set(first)
    order = sorted(first) + [place for place in range(len(ranked)) if place not in taken]
    return [ranked[place] for place in order]


def _find_good(seen_as: Sequence[RankedCandidate], collection: str, taken: set[int]) -> list[int]:
    """Return the places of a collection's good candidates that are not taken, the best of each document before its others."""
    times: Counter[str] = Counter(seen_as[place].document for place in taken)
    found: list[tuple[int, int]] = []
    for place, candidate in enumerate(seen_as):
        if candidate.collection == collection and candidate.good and place not in taken:
            found.append((times[candidate.document], place))
            times[candidate.document] += 1
    return [place for _, place in sorted(found)]


def _find_surplus(first: Sequence[int], seen_as: Sequence[RankedCandidate], owed: int) -> int | None:
    """Return the worst place of a collection that has more than its share; None without such a collection."""
    counts = Counter(seen_as[place].collection for place in first)
    return max((place for place in first if counts[seen_as[place].collection] > owed), default=None)
