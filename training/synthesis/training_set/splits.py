"""The splits of a set: 8:1:1 within each topic (QSR section 4.1), and no query or near-copy of one on two sides.

Rows that share evidence stand on one side; documents that rows share are such evidence where the rows hold what they say. Where
so many hang together that a split would stay empty, the rows that join them leave the set: those groups are held out first that
the fewest rows join with others. Without a validation nothing chooses a policy: where there would be none, its rows may resemble
rows for training, and the set's maker is told. The choice depends on the rows and the seed alone.

Where the source of a row already put its query on a side, there it stays.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.split import HELD_OUT, Split, count_fewest
from retrieval.encoding.encoder import Encoder
from training.synthesis.training_set.outcome import KeptRow
from training.synthesis.training_set.row_groups import Bond, Evidence, RowGroup, gather_groups, join_evidence, list_evidence

MOST_LEAVING = 1
"""The most rows that leave the set for each row of a smaller split."""
ENOUGH = 0.9
"""No row leaves a set for a split that has this share of what it is owed."""
TOO_FEW = 0.5
"""With less than this share of what a split is owed, the set's maker is told."""
SHOWN, SHOWN_CHARS = 3, 160


@dataclass(frozen=True, slots=True)
class SplitRows:
    """The side of each row; the evidence because of which each other row leaves the set; what the set's maker must know."""

    sides: Mapping[str, Split]
    leaving: Mapping[str, str]
    notices: tuple[str, ...] = ()


def assign_splits(
    rows: Mapping[str, KeptRow], seed: int, encoder: Encoder | None = None, walls: Sequence[Bond] = tuple(Bond)
) -> SplitRows:
    """Split the rows, none of which has one of the bonds `walls` with a row on another side.

    An `encoder` finds queries that mean nearly the same.
    """
    found = list_evidence(rows, encoder)
    work = _Sides({name: row.topic for name, row in rows.items()}, join_evidence(found, walls), seed)
    work.keep_decided(rows)
    owed = {split: work.fill(split, share) for split, share in HELD_OUT.items()}
    notices = work.list_notices(owed)
    for bonds in (walls[:count] for count in range(len(walls) - 1, 0, -1)):
        work.fill_validation(join_evidence(found, bonds))
    sides = {name: work.held.get(name, Split.TRAIN) for name in rows if name not in work.leaving}
    return SplitRows(sides, work.leaving, (*notices, *list_shared(sides, found)))


def list_shared(sides: Mapping[str, Split], found: Mapping[Bond, Evidence]) -> list[str]:
    """Say which rows that are held out resemble rows for training, and by what."""
    told = list[str]()
    for bond, evidence in found.items():
        trained = {each for name, side in sides.items() if side is Split.TRAIN for each in evidence[name]}
        shared = {name: own for name, side in sides.items() if side is not Split.TRAIN and (own := trained & {*evidence[name]})}
        if shared:
            held = sum(side is not Split.TRAIN for side in sides.values())
            most = _name_most(Counter(each for own in shared.values() for each in own))
            told.append(f"{len(shared)} of {held} rows that are held out share a {bond} with rows for training: {most}")
    return told


@dataclass
class _Sides:
    """The rows of the held-out splits and those that leave, found so far.

    `decided` are those whose source put them on a side, `settled` those that stay for training.
    """

    topics: Mapping[str, str]
    evidence: Evidence
    seed: int
    held: dict[str, Split] = field(default_factory=dict)
    leaving: dict[str, str] = field(default_factory=dict)
    decided: frozenset[str] = frozenset()
    settled: set[str] = field(default_factory=set)

    def keep_decided(self, rows: Mapping[str, KeptRow]) -> None:
        """Put each query on the side that its source gave it; where two sources differ, on the one further from training.

        Rows for training that share evidence with one that is held out leave, as many as are held out.
        """
        sides: dict[str, Split] = {}
        for row in rows.values():
            if row.split is not None:
                sides[row.query] = max(row.split, sides.get(row.query, Split.TRAIN), key=list(Split).index)
        self.decided = frozenset(name for name, row in rows.items() if row.query in sides)
        self.held = {name: side for name in self.decided if (side := sides[rows[name].query]) is not Split.TRAIN}
        self.settled = {*self.decided} - self.held.keys()
        shared = {each for name in self.held for each in self.evidence[name]}
        joined = [name for name in rows if name not in self.held and not shared.isdisjoint(self.evidence[name])]
        drawn = sorted(joined, key=lambda name: _hash_of(f"{self.seed} {name}"))
        leaving, staying = drawn[: MOST_LEAVING * len(self.held)], drawn[MOST_LEAVING * len(self.held) :]
        self.leaving = {name: next(each for each in self.evidence[name] if each in shared) for name in leaving}
        self.settled.update(staying)

    def fill(self, split: Split, share: float) -> int:
        """Hold out a share of each topic's rows; return how many rows the split is owed.

        Groups are first as large as the split may be. Where none can be held out, they are made half as large.
        """
        owed = self._owe(split, share)
        wanted, most = Counter(owed), dict(owed)
        whole = {topic for topic, count in Counter(self.topics.values()).items() if count * share >= 1}
        order = self._order_rows(split)
        while any(most.values()):
            free = [name for name in order if name not in self.held and name not in self.leaving]
            groups = gather_groups(free, self.topics, self.evidence, most)
            took = [self._take(group, split, wanted, whole, sum(owed.values())) for group in self._order_groups(groups, split)]
            most = {topic: min(count, wanted[topic]) if any(took) else count // 2 for topic, count in most.items()}
        return sum(owed.values())

    def fill_validation(self, evidence: Evidence) -> None:
        """Hold out the fewest rows of a validation, if it has fewer, by less evidence than before and against no decision."""
        if self._lack(Split.VALIDATION):
            self.evidence = evidence
            self.settled.clear()
            self.fill(Split.VALIDATION, 0.0)

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
        told = _name_most(Counter(each for name in largest.rows for each in self.evidence[name]))
        together = f"{len(largest.rows)} of {len(self.topics)} rows hang together, and not by a few rows alone"
        return (f"{', '.join(short)}: {together}. Most share {told}",)

    def _owe(self, split: Split, share: float) -> Counter[str]:
        """Return how many rows of each topic the split lacks: a share of those without a decision, and the fewest of a set."""
        open_to = Counter(topic for name, topic in self.topics.items() if name not in self.decided)
        owed = Counter({topic: _share_of(count, share, f"{self.seed} {split} {topic}") for topic, count in open_to.items()})
        free = Counter(topic for name, topic in self.topics.items() if name not in self.held and name not in self.settled)
        while self._lack(split) > owed.total() and (left := free - owed):
            owed[max(left, key=lambda topic: (left[topic], _hash_of(f"{self.seed} {split} {topic}")))] += 1
        return owed

    def _lack(self, split: Split) -> int:
        return count_fewest(len(self.topics)) - sum(side is split for side in self.held.values())

    def _order_rows(self, split: Split) -> list[str]:
        """Return the rows, those first that share the least with others."""
        holders = Counter(each for own in self.evidence.values() for each in own)
        links = {name: sum(holders[each] - 1 for each in own) for name, own in self.evidence.items()}
        return sorted(self.topics, key=lambda name: (links[name], _hash_of(f"{self.seed} {split} {name}")))

    def _order_groups(self, groups: list[RowGroup], split: Split) -> list[RowGroup]:
        return sorted(groups, key=lambda g: (len(g.between) / len(g.rows), _hash_of(f"{self.seed} {split} {min(g.rows)}")))

    def _take(self, group: RowGroup, split: Split, wanted: Counter[str], whole: set[str], owed: int) -> bool:
        """Hold a group out if it fits, if no row of it is settled, and if few enough rows have to leave for it.

        In a topic that is owed less than a whole row, no row leaves.
        """
        leaving = [name for name in group.between if name not in self.leaving]
        held = sum(side is split for side in self.held.values())
        left = len(self.leaving) + len(leaving)
        may_leave = group.topics.keys() <= whole and held < ENOUGH * owed
        if any(count > wanted[topic] for topic, count in group.topics.items()) or not self.settled.isdisjoint(group.rows):
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


def _name_most(shared: Mapping[str, int]) -> str:
    most = sorted(shared.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
    return "; ".join(f"{each[:SHOWN_CHARS]} ({count} rows)" for each, count in most)


def _share_of(count: int, share: float, drawn_by: str) -> int:
    """Return a share of a number of rows; what is left of a whole row is decided by a draw, so that small topics are not lost."""
    whole, rest = divmod(count * share, 1)
    return int(whole) + (_hash_of(drawn_by) % 1_000 < rest * 1_000)


def _hash_of(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
