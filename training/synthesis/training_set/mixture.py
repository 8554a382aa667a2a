"""Mixing rows by shares: each class has its share of the finished set, and the scarcest class decides how large the set is."""

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from app.domain.value import Value

Classes = Mapping[str, str]
"""The class of a candidate by the name of the mixture. A candidate without a class in a mixture is not counted there."""
Place = tuple[int, str]
"""The number of a mixture, and a class of it."""
ROUNDING = 1e-9
ENOUGH = "the set has as many rows as were wanted"


@dataclass(frozen=True, slots=True)
class Mixture:
    """The wanted shares of classes of one kind, such as sources, among the rows that have such a class.

    A class without a share has no room. Where no row has a class, the others divide its share. `binding`: the set is made smaller
    so that the shares hold; else they decide only which rows are taken first.
    """

    name: str
    shares: Mapping[str, float]
    binding: bool = True


class ClassShare(Value):
    """The share of a class that was asked for, the share that it has, and its rows."""

    asked: float
    reached: float
    rows: int


@dataclass
class _Filling:
    """A set that takes one row after the other. `shares` are those of each mixture's classes that there are rows of."""

    mixtures: Sequence[Mixture]
    shares: Sequence[Mapping[str, float]]
    counts: Counter[Place] = field(default_factory=Counter)
    totals: Counter[int] = field(default_factory=Counter)

    def find_obstacle(self, places: Sequence[Place]) -> str:
        """Return why a row with these classes has no room; empty where it has.

        A class has room for its share of the rows, rounded up.
        """
        for number, name in places:
            mixture, share = self.mixtures[number], self.shares[number].get(name)
            if mixture.binding and share is None:
                return f"{mixture.name} {name!r} has no share"
            if mixture.binding and self.counts[number, name] >= ceil(self._owe(number, name) - ROUNDING):
                return f"{mixture.name} {name!r} has its share already"
        return ""

    def measure_need(self, places: Sequence[Place]) -> float:
        """Return how far these classes are behind their shares, in rows."""
        return sum(self._owe(*place) - self.counts[place] for place in places)

    def take(self, places: Sequence[Place]) -> None:
        """Take a row with these classes."""
        self.counts.update(places)
        self.totals.update(number for number, _ in places)

    def _owe(self, number: int, name: str) -> float:
        return self.shares[number].get(name, 0.0) * (self.totals[number] + 1)


@dataclass
class Room:
    """The rows that each class of a binding mixture can still have. A candidate of a full class need not be worked."""

    places: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    left: Counter[Place] = field(default_factory=Counter)

    def has_room(self, name: str) -> bool:
        """Say whether all classes of a candidate have room."""
        return all(self.left[place] > 0 for place in self.places.get(name, ()))

    def take(self, name: str) -> None:
        """Take the room of a row."""
        self.left.subtract(self.places.get(name, ()))


@dataclass(frozen=True, slots=True)
class Mixing:
    """The mixtures of a set of `wanted` rows, with the classes of all its candidates by their ids."""

    mixtures: Sequence[Mixture] = ()
    classes: Mapping[str, Classes] = field(default_factory=dict)
    wanted: int = 0
    seed: int = 0

    def order_candidates(self) -> list[str]:
        """Return all candidates in an order in which every beginning has the shares, as far as there are candidates."""
        order, left = list[str](), dict.fromkeys(self.classes)
        while drawn := dict.fromkeys(self._fill(left, len(left))[0]):
            order += drawn
            left = {name: None for name in left if name not in drawn}
        return [*order, *left]

    def plan_room(self) -> Room:
        """Return the room that each class has if all candidates become rows; it cannot get more if some do not."""
        binding = {name: [place for place in self._list_places(name) if self.mixtures[place[0]].binding] for name in self.classes}
        drawn, _ = self._fill(self.classes, self.wanted)
        return Room(binding, Counter(place for name in drawn for place in binding[name]))

    def find_crowded(self, names: Collection[str]) -> dict[str, str]:
        """Return why each of these rows that has no room leaves the set, by its id."""
        if not self.mixtures:
            return {}
        drawn, filling = self._fill(names, self.wanted)
        leaving = set(names) - set(drawn)
        return {name: filling.find_obstacle(self._list_places(name)) or ENOUGH for name in names if name in leaving}

    def count_shares(self, names: Collection[str]) -> dict[str, dict[str, ClassShare]]:
        """Return the shares that these rows have, by mixture and class."""
        return {mixture.name: self._count_classes(mixture, names) for mixture in self.mixtures}

    def list_notices(self, found: Collection[str], crowded: Collection[str]) -> list[str]:
        """Return what a user must know of the shares: classes without rows, and those that hold the set down.

        `found` are the rows that there were, `crowded` those that had no room.
        """
        notices = list[str]()
        for mixture in self.mixtures:
            there = Counter(self.classes[name].get(mixture.name, "") for name in found)
            left = Counter(self.classes[name].get(mixture.name, "") for name in crowded)
            asked = {name: share for name, share in mixture.shares.items() if share}
            if missing := [f"{name!r} ({asked[name]:.0%})" for name in asked if not there[name]]:
                notices.append(f"no row has the {mixture.name} {', '.join(missing)}: the others divide its share")
            scarce = [f"{name!r} ({there[name]} rows)" for name in asked if there[name] and not left[name]]
            if mixture.binding and scarce and sum(left[name] for name in asked) and len(found) - len(crowded) < self.wanted:
                notices.append(f"the set has no more rows, so that shares hold: scarce is the {mixture.name} {', '.join(scarce)}")
        return notices

    def _count_classes(self, mixture: Mixture, names: Collection[str]) -> dict[str, ClassShare]:
        counts = Counter(self.classes[name].get(mixture.name, "") for name in names)
        counted = sum(counts[each] for each in mixture.shares)
        return {
            each: ClassShare(asked=share, reached=counts[each] / counted if counted else 0.0, rows=counts[each])
            for each, share in mixture.shares.items()
        }

    def _fill(self, names: Collection[str], wanted: int) -> tuple[list[str], _Filling]:
        """Take rows, always one whose classes are furthest behind; which of several alike is decided by a hash."""
        waiting: dict[tuple[Place, ...], deque[str]] = defaultdict(deque)
        for name in sorted(names, key=lambda name: hashlib.sha256(f"{self.seed} {name}".encode()).digest()):
            waiting[self._list_places(name)].append(name)
        present = {place for places in waiting for place in places}
        filling = _Filling(self.mixtures, [_divide(m.shares, number, present) for number, m in enumerate(self.mixtures)])
        drawn: list[str] = []
        while len(drawn) < wanted and (fitting := [places for places in waiting if not filling.find_obstacle(places)]):
            best = max(fitting, key=filling.measure_need)
            filling.take(best)
            drawn.append(waiting[best].popleft())
            if not waiting[best]:
                del waiting[best]
        return drawn, filling

    def _list_places(self, name: str) -> tuple[Place, ...]:
        own = self.classes[name]
        return tuple((number, own[m.name]) for number, m in enumerate(self.mixtures) if own.get(m.name))


def _divide(shares: Mapping[str, float], number: int, present: Collection[Place]) -> dict[str, float]:
    """Return the shares of the classes that are there, such that they add up to one."""
    there = {name: share for name, share in shares.items() if share and (number, name) in present}
    return {name: share / sum(there.values()) for name, share in there.items()}
