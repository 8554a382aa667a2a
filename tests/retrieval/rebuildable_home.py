"""A home with one collection, which tests build again and again."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from retrieval.building.builder import run_build
from retrieval.index.ports import Index
from retrieval.ports import SearchFilter
from retrieval.search.library import Library
from retrieval.store.catalogue import Build, Collection, CorpusKind
from retrieval.store.home import RetrievalHome, open_retrieval_home
from tests.retrieval.word_encoder import SimulatedDeath, WordEncoder

Records = dict[str, str]


class RebuildableHome:
    """A home with one collection read from a JSONL file that the test rewrites."""

    def __init__(self, folder: Path, qdrant_url: str | None = None, prefix: str | None = None) -> None:
        self.file = folder / "corpus.jsonl"
        self.home = folder / "home"
        self.qdrant_url = qdrant_url
        self.shelves: RetrievalHome = open_retrieval_home(self.home, qdrant_url, prefix=prefix)
        self.shelves.catalogue.add(Collection(name="c", kind=CorpusKind.BEIR, path=str(self.file)), datetime.now(UTC))

    def write(self, records: Records) -> None:
        self.file.write_text("\n".join(json.dumps({"_id": key, "title": key, "text": text}) for key, text in records.items()))

    def build(
        self, encoder: WordEncoder | None = None, fresh: bool = True, report: Callable[[Build], None] = lambda _: None
    ) -> Build:
        return run_build(self.shelves, "c", fresh, lambda: encoder, report)

    def restart(self) -> None:
        """Open the home again, as a new process does."""
        self.shelves.close()
        self.shelves = open_retrieval_home(self.home, self.qdrant_url)

    def find_titles(self, query: str, encoder: WordEncoder | None = None) -> list[str]:
        library = Library(self.shelves.catalogue, self.shelves.store, self.shelves.index, lambda: encoder)
        library.refresh("c")
        return [passage.source.title for passage in library.search(query, 10, SearchFilter(collections=("c",)))]

    def count_points(self) -> int:
        name = self.shelves.index.resolve("c")
        assert name is not None
        return self.shelves.index.count(name)


def make_records(count: int) -> Records:
    return {f"d{n}": f"Document number{n} tells of topic{n % 7} and of topic{n % 5} at some length." for n in range(count)}


class MortalIndex:
    """An index that fails like a dying process: after call number `last` of anything that changes it.

    Where much is new, a build calls 1 derive, 2 delete, 3 upsert, 4 flush, 5 optimize, 6 switch (to words), 7 derive, 8 vectors,
    9 flush, 10 vectors, 11 flush, 12 optimize, 13 switch. Where little is new: 1 derive, 2 delete, 3 upsert, 4 flush, 5 vectors,
    6 flush, 7 optimize, 8 switch.
    """

    def __init__(self, index: Index, last: int) -> None:
        self._index = index
        self._left = last

    def __getattr__(self, name: str) -> Callable[..., object]:
        method = getattr(self._index, name)

        def call(*arguments: object) -> object:
            result = method(*arguments)
            if name in ("create", "derive", "upsert", "set_dense", "delete_documents", "flush", "optimize", "switch"):
                self._left -= 1
                if self._left == 0:
                    raise SimulatedDeath
            return result

        return call
