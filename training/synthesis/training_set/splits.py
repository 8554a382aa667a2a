"""The splits of a set: 8:1:1 within each topic (QSR section 4.1), and no document, query or near-copy of one on two sides.

Rows that share evidence stand on one side. Where so many hang together that a split would stay empty, the rows that join them
leave the set: those groups are held out first that the fewest rows join with others. The choice depends on the rows and the
seed alone.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from retrieval.encoding.encoder import Encoder
from training.synthesis.training_set.outcome import KeptRow
from training.synthesis.training_set.row_groups import Evidence, RowGroup, gather_groups, list_evidence

MOST_LEAVING = 1
"""The most rows that leave the set for each row of a smaller split."""
ENOUGH = 0.9
"""No row leaves a set for a split that has this share of what it is owed."""
TOO_FEW = 0.5
"""With less than this share of what a split is owed, the set's maker is told."""
SHOWN, SHOWN_CHARS = 3, 160


class Split(StrEnum):
    """The sides of a set."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


HELD_OUT: Mapping[Split, float] = {Split.TEST: 0.1, Split.VALIDATION: 0.1}


@dataclass(frozen=True, slots=True)
class SplitRows:
    """The side of each row; the evidence because of which each other row leaves the set; what the set's maker must know."""

    sides: Mapping[str, Split]
    leaving: Mapping[str, str]
    notices: tuple[str, ...] = ()


def assign_splits(rows: Mapping[str, KeptRow], seed: int, encoder: Encoder | None = None) -> SplitRows:
    """Split the rows. An `encoder` finds queries that mean nearly the same."""
    evidence = list_evidence(rows, encoder)
    work = _Sides({name: row.topic for name, row in rows.items()}, evidence, seed)
    owed = {split: work.fill(split, share) for split, share in HELD_OUT.items()}
    sides = {name: work.held.get(name, Split.TRAIN) for name in rows if name not in work.leaving}
    return SplitRows(sides, work.leaving, work.list_notices(owed))


@dataclass
class _Sides:
    """The rows of the held-out splits and those that leave, found so far."""

    topics: Mapping[str, str]
    evidence: Evidence
    seed: int
    held: dict[str, Split] = field(default_factory=dict)
    leaving: dict[str, str] = field(default_factory=dict)

    def fill(self, split: Split, share: float) -> int:
        """Hold out a share of each topic's rows; return how many rows the split is owed.

        Groups are first as large as the split may be. Where none can be held out, they are made half as large.
        """
        totals = Counter(self.topics.values())
        owed = {topic: _share_of(count, share, f"{self.seed} {split} {topic}") for topic, count in totals.items()}
        wanted, most = Counter(owed), dict(owed)
        whole = {topic for topic, count in totals.items() if count * share >= 1}
        order = self._order_rows(split)
        while any(most.values()):
            free = [name for name in order if name not in self.held and name not in self.leaving]
            groups = gather_groups(free, self.topics, self.evidence, most)
            took = [self._take(group, split, wanted, whole, sum(owed.values())) for group in self._order_groups(groups, split)]
            most = {topic: min(count, wanted[topic]) if any(took) else count // 2 for topic, count in most.items()}
        return sum(owed.values())

    def list_notices(self, owed: Mapping[Split, int]) -> tuple[str, ...]:
        """Say which splits have too few of the rows that they are owed, and what joins the rows, if anything does."""
        held = Counter(self.held.values())
        short = [f"{split} has {held[split]} of {count} rows" for split, count in owed.items() if held[split] < TOO_FEW * count]
        if not short:
            return ()
        everything = Counter(self.topics.values())
        groups = gather_groups(self.topics, self.topics, self.evidence, everything)
        largest = max(groups, key=lambda group: (len(group.rows), min(group.rows)))
        if len(largest.rows) == 1:
            return ()
        joined = Counter(each for name in largest.rows for each in self.evidence[name])
        most = sorted(joined.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
        told = "; ".join(f"{each[:SHOWN_CHARS]} ({count} rows)" for each, count in most)
        together = f"{len(largest.rows)} of {len(self.topics)} rows hang together, and not by a few rows alone"
        return (f"{', '.join(short)}: {together}. Most share {told}",)

    def _order_rows(self, split: Split) -> list[str]:
        """Return the rows, those first that share the least with others."""
        holders = Counter(each for own in self.evidence.values() for each in own)
        links = {name: sum(holders[each] - 1 for each in own) for name, own in self.evidence.items()}
        return sorted(self.topics, key=lambda name: (links[name], _hash_of(f"{self.seed} {split} {name}")))

    def _order_groups(self, groups: list[RowGroup], split: Split) -> list[RowGroup]:
        return sorted(groups, key=lambda g: (len(g.between) / len(g.rows), _hash_of(f"{self.seed} {split} {min(g.rows)}")))

    def _take(self, group: RowGroup, split: Split, wanted: Counter[str], whole: set[str], owed: int) -> bool:
        """Hold a group out if it fits, and if few enough rows have to leave for it.

        In a topic that is owed less than a whole row, no row leaves.
        """
        leaving = [name for name in group.between if name not in self.leaving]
        held = sum(side is split for side in self.held.values())
        left = len(self.leaving) + len(leaving)
        may_leave = group.topics.keys() <= whole and held < ENOUGH * owed
        if any(count > wanted[topic] for topic, count in group.topics.items()):
            return False
        if leaving and not (may_leave and left <= MOST_LEAVING * (len(self.held) + len(group.rows))):
            return False
        self.held.update(dict.fromkeys(group.rows, split))
        self.leaving.update(self._name_evidence(group, leaving))
        wanted.subtract(group.topics)
        return True

    def _name_evidence(self, group: RowGroup, leaving: list[str]) -> dict[str, str]:
        shared = {each for name in group.rows for each in self.evidence[name]}
        return {name: next(each for each in self.evidence[name] if each in shared) for name in leaving}


def _share_of(count: int, share: float, drawn_by: str) -> int:
    """Return a share of a number of rows; what is left of a whole row is decided by a draw, so that small topics are not lost."""
    whole, rest = divmod(count * share, 1)
    return int(whole) + (_hash_of(drawn_by) % 1_000 < rest * 1_000)


def _hash_of(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
