"""Retrieval without a service: one process that opens a home's indexes itself, for tests, benchmarks and `LocalStages`."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from app.domain.errors import SetupError
from app.domain.evidence import Passage
from retrieval.builder import run_build
from retrieval.catalogue import Build, BuildPhase, Collection, CorpusKind
from retrieval.home import Shelves, open_shelves
from retrieval.library import DEFAULT_COLLECTION, Library
from retrieval.ports import Document, SearchFilter


class LocalSearcher:
    """`Searcher` and `PageReader` over indexes that this process has open."""

    def __init__(self, shelves: Shelves, library: Library) -> None:
        self._shelves = shelves
        self.library = library

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """See `Searcher.search`."""
        return await asyncio.to_thread(self.library.search, query, limit, where)

    async def read(self, url: str) -> Document:
        """See `PageReader.read`."""
        return await asyncio.to_thread(self.library.read, url, ())

    def build(self, collection: Collection) -> Build:
        """Build a collection, again if it was built before, and search it; blocks until it is done."""
        self._shelves.catalogue.add(collection, datetime.now(UTC))
        build = run_build(self._shelves, collection.name, True, lambda: None, lambda _: None)
        if build.phase is BuildPhase.FAILED:
            raise SetupError(f"{collection.name!r} could not be built: {build.detail}")
        self.library.refresh(collection.name)
        return build

    def close(self) -> None:
        """Close the stores."""
        self._shelves.close()


def open_local(home: Path, *collections: Collection) -> LocalSearcher:
    """Open a home in this process and build what is missing: `collections`, or else the default one. Blocks meanwhile."""
    shelves = open_shelves(home)
    library = Library(shelves.catalogue, shelves.store, shelves.index, lambda: None)
    opened = LocalSearcher(shelves, library)
    for collection in collections or (Collection(name=DEFAULT_COLLECTION, kind=CorpusKind.SOTU),):
        library.refresh(collection.name)
        if not library.ready(collection.name):
            opened.build(collection)
    return opened
