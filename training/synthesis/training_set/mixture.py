"""Mixing rows by shares: a set takes rows as long as every class that a row belongs to has room."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from training.synthesis.training_set.outcome import KeptRow


@dataclass(frozen=True, slots=True)
class Mixture:
    """The wanted shares of the classes of one kind, such as sources. A class without a share has no room."""

    name: str
    class_of: Callable[[KeptRow], str]
    shares: Mapping[str, float]


def find_crowded_rows(rows: Mapping[str, KeptRow], mixtures: Sequence[Mixture], wanted: int, seed: int) -> dict[str, str]:
    """Return why each row that has no room leaves the set, by its id. Rows are taken in the order of a hash.

    A class has room for its share of `wanted` rows, rounded up; so no share is exceeded by more than one row.
    """
    room = {(m.name, each): ceil(share * wanted) for m in mixtures for each, share in m.shares.items()}
    taken: Counter[tuple[str, str]] = Counter()
    leaving: dict[str, str] = {}
    for name in sorted(rows, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest()):
        classes = [(mixture.name, mixture.class_of(rows[name])) for mixture in mixtures]
        full = [each for each in classes if taken[each] >= room.get(each, 0)]
        if full:
            kind, which = full[0]
            leaving[name] = f"{kind} {which!r} has its share already" if full[0] in room else f"{kind} {which!r} has no share"
        else:
            taken.update(classes)
    return leaving
