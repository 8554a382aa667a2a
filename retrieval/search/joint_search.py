"""The search of several indexes as one, with keys that tell their points apart."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from retrieval.index.ports import HybridQuery, Index, PassagePlace
from retrieval.store.catalogue import Generation, collection_of


class Key(NamedTuple):
    """A candidate: the name of its index, and its number there."""

    within: str
    number: int


class JointIndexes:
    """The indexes of one search."""

    def __init__(self, index: Index, generations: Sequence[Generation]) -> None:
        self._index = index
        self._names = tuple(dict.fromkeys(generation.name for generation in generations))

    def search(self, asked: HybridQuery) -> tuple[dict[Key, float], dict[Key, float]]:
        """Search both halves of a query in all of them, by words and by meaning, and return the scores."""
        sparse: dict[Key, float] = {}
        dense: dict[Key, float] = {}
        for name in self._names:
            found = self._index.query(name, asked)
            sparse |= {Key(name, number): score for number, score in found.sparse.items()}
            dense |= {Key(name, number): score for number, score in found.dense.items()}
        return sparse, dense

    def compare(self, vector: Sequence[float], keys: Collection[Key]) -> dict[Key, float]:
        """Return the exact dense scores of these points, without those that have no vector."""
        found: dict[Key, float] = {}
        for name in self._names:
            scores = self._index.compare(name, vector, [key.number for key in keys if key.within == name])
            found |= {Key(name, number): score for number, score in scores.items()}
        return found

    def compare_best(self, vectors: Iterable[Sequence[float]], keys: Collection[Key]) -> dict[Key, float]:
        """Return for each of these points its best score by any of the vectors."""
        best: dict[Key, float] = {}
        for vector in vectors:
            for key, score in self.compare(vector, keys).items():
                best[key] = max(score, best.get(key, score))
        return best

    def find_places(self, keys: Collection[Key]) -> dict[Key, PassagePlace]:
        """Return the places of the candidates, without those that were removed meanwhile."""
        found: dict[Key, PassagePlace] = {}
        for name in self._names:
            if wanted := [key.number for key in keys if key.within == name]:
                found |= {Key(name, number): place for number, place in self._index.find_places(name, wanted).items()}
        return found


def documents_of(places: Mapping[Key, PassagePlace]) -> dict[Key, str]:
    """Name the document of each candidate. The same document in another collection has another name."""
    collections = {name: collection_of(name) for name in {key.within for key in places}}
    return {key: f"{collections[key.within]} {place.document}" for key, place in places.items()}
