"""The splits of a set: 8:1:1 within each topic (QSR section 4.1), and no document, query or near-copy of one on two sides.

Rows are linked when they share a document, or their queries are near-copies or mean nearly the same. Linked rows stand on one
side. Where so many are linked that a split would stay empty, a row is cut loose: the rows linked with it leave the set.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain

from retrieval.encoding.encoder import Encoder
from training.decontamination.near_copies import WordOverlap
from training.decontamination.near_meanings import list_near_meanings
from training.synthesis.training_set.outcome import KeptRow

MOST_CUT = 2
"""The most rows that may leave the set for each row of a smaller split."""


class Split(StrEnum):
    """The sides of a set."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


HELD_OUT: Mapping[Split, float] = {Split.TEST: 0.1, Split.VALIDATION: 0.1}


def assign_splits(rows: Mapping[str, KeptRow], seed: int, encoder: Encoder | None = None) -> dict[str, Split | None]:
    """Return the split of each row by its id; None for a row that has to leave the set.

    An `encoder` finds queries that mean nearly the same.
    """
    sides = _Sides(rows, _link_rows(rows, encoder), seed)
    for split, share in HELD_OUT.items():
        sides.fill(split, share)
    return {name: sides.found.get(name, Split.TRAIN) for name in rows}


def _link_rows(rows: Mapping[str, KeptRow], encoder: Encoder | None) -> dict[str, set[str]]:
    """Return the rows with which each row shares a document, or whose query is nearly its query, by words or by meaning."""
    holders: dict[str, list[str]] = defaultdict(list)
    for name, row in rows.items():
        for document in row.documents:
            holders[document].append(name)
    names = list(rows)
    links: dict[str, set[str]] = {name: set() for name in rows}
    for held in holders.values():
        for name in held:
            links[name].update(held)
    queries = [row.query for row in rows.values()]
    for one, other in chain(WordOverlap(queries).list_pairs(), list_near_meanings(encoder, queries)):
        links[names[one]].add(names[other])
        links[names[other]].add(names[one])
    return {name: linked - {name} for name, linked in links.items()}


@dataclass
class _Sides:
    """The rows of the held-out splits, found so far."""

    rows: Mapping[str, KeptRow]
    links: Mapping[str, set[str]]
    seed: int
    found: dict[str, Split | None] = field(default_factory=dict)

    def fill(self, split: Split, share: float) -> None:
        """Take a share of each topic's rows, those with the fewest links first."""
        topics = Counter(row.topic for row in self.rows.values())
        wanted = {topic: _share_of(count, share, f"{self.seed} {split} {topic}") for topic, count in topics.items()}
        for name in sorted(self.rows, key=lambda name: (len(self.links[name]), _hash_of(f"{self.seed} {split} {name}"))):
            topic = self.rows[name].topic
            if name not in self.found and wanted[topic] > 0:
                self._take(name, split, wanted, may_cut=topics[topic] * share >= 1)

    def _take(self, name: str, split: Split, wanted: dict[str, int], may_cut: bool) -> None:
        """Take a row with all that are linked with it, if they fit; else cut it loose, if few enough rows have to leave.

        In a topic that is owed less than a whole row, nothing is cut.
        """
        group = self._list_linked(name)
        needed = Counter(self.rows[each].topic for each in group)
        if all(wanted[topic] >= count for topic, count in needed.items()):
            self.found.update(dict.fromkeys(group, split))
            wanted.update({topic: wanted[topic] - count for topic, count in needed.items()})
            return
        leaving = [each for each in self.links[name] if each not in self.found]
        if may_cut and len(leaving) <= MOST_CUT:
            self.found.update(dict.fromkeys(leaving))
            self.found[name] = split
            wanted[self.rows[name].topic] -= 1

    def _list_linked(self, name: str) -> list[str]:
        """Return the row and all rows that are linked with it, also through others."""
        group, waiting = {name}, [name]
        while waiting:
            fresh = {each for each in self.links[waiting.pop()] if each not in self.found and each not in group}
            group |= fresh
            waiting += sorted(fresh)
        return sorted(group)


def _share_of(count: int, share: float, drawn_by: str) -> int:
    """Return a share of a number of rows; what is left of a whole row is decided by a draw, so that small topics are not lost."""
    whole, rest = divmod(count * share, 1)
    return int(whole) + (_hash_of(drawn_by) % 1_000 < rest * 1_000)


def _hash_of(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
