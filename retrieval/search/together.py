"""The search of several indexes as one, with keys that tell their points apart."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias, TypeVar

from retrieval.index.ports import HybridQuery, Index, Place
from retrieval.store.catalogue import Generation, collection_of

Key: TypeAlias = int
"""A candidate: its number in its index and, above that, which index it is. In one index alone, or the first, just its number."""
Told = TypeVar("Told")
_BITS = 64
_NUMBER = (1 << _BITS) - 1


class Together:
    """The indexes of one search. They count in the order of their names, so that equal scores have one order too."""

    def __init__(self, index: Index, generations: Sequence[Generation]) -> None:
        self._index = index
        self._asked = tuple(dict.fromkeys(generation.name for generation in generations))
        self._names = sorted(self._asked)

    def hits(self, asked: HybridQuery) -> dict[Key, float]:
        """What one half of a query finds in all of them."""
        found: dict[Key, float] = {}
        for name in self._asked:
            for half in self._index.query(name, asked):
                found |= self._keyed(name, half)
        return found

    def places(self, keys: Collection[Key]) -> dict[Key, Place]:
        """Where the candidates stand; one that was removed meanwhile is left out."""
        if len(self._names) == 1:
            return self._index.places(self._names[0], list(keys)) if keys else {}
        found: dict[Key, Place] = {}
        for place, name in enumerate(self._names):
            if wanted := [key & _NUMBER for key in keys if key >> _BITS == place]:
                found |= self._keyed(name, self._index.places(name, wanted))
        return found

    def documents(self, places: Mapping[Key, Place]) -> dict[Key, str]:
        """What document each candidate is of. The same one in another collection is another."""
        if len(self._names) == 1:
            return {key: place.document for key, place in places.items()}
        return {key: f"{collection_of(self.index(key))} {place.document}" for key, place in places.items()}

    def index(self, key: Key) -> str:
        """The name of the index that a candidate is of."""
        return self._names[key >> _BITS]

    def _keyed(self, name: str, told: Mapping[int, Told]) -> Mapping[Key, Told]:
        above = self._names.index(name) << _BITS
        return {above | number: value for number, value in told.items()} if above else told
