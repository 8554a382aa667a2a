"""The index owner: the one process of a home that opens its indexes, starts their builds and answers searches."""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from app.domain.errors import Conflict, InvalidInput, ToolUnavailable
from app.domain.evidence import Passage
from retrieval.building.build import RECIPE, begin_build
from retrieval.building.builds import ATTEMPTS, RunningBuilds
from retrieval.building.screening import name_finder
from retrieval.corpora.uploads import UploadState, upload_states_of
from retrieval.ports import CollectionDescription, Document, SearchFilter
from retrieval.search.described import DescribedCollections
from retrieval.search.library import DEFAULT_COLLECTION, Library
from retrieval.search.screened import mark_screened
from retrieval.search.whole import WholeCollections
from retrieval.service.build_pace import WAIT_FOR_VECTORS, BuildPace
from retrieval.service.still_building import StillBuilding
from retrieval.store.catalogue import Build, BuildPhase, Collection, CorpusKind
from retrieval.store.documents import StoredState
from retrieval.store.home import RetrievalHome
from retrieval.store.statistics import count_statistics
from retrieval.store.verification import CollectionVerification, verify_collection

WAIT_FOR_INDEX = timedelta(seconds=60)
"""The time that one request waits for the first word index of collections that are being built; its client asks again."""
SEARCHES_AT_ONCE = max(2, os.cpu_count() or 1)
"""One search for each core. On two cores, two threads answer a seventh more searches a second than six."""

T = TypeVar("T")


class IndexOwner:
    """The owner of a library and its builds. Its methods run on the event loop; searches run in threads.

    Searches wait for the vectors of a collection that is encoded within `wait_for_vectors`.
    """

    def __init__(
        self,
        shelves: RetrievalHome,
        library: Library,
        build_command: Sequence[str],
        wait_for_vectors: timedelta = WAIT_FOR_VECTORS,
    ) -> None:
        self._shelves = shelves
        self._library = library
        self._whole = WholeCollections(library, shelves.store)
        self._described = DescribedCollections(library, shelves.catalogue, shelves.database)
        self._builds = RunningBuilds(build_command, self._on_step, self._on_giving_up)
        self._steps: dict[str, Build] = {}
        self._building = asyncio.Lock()
        self._searching = ThreadPoolExecutor(SEARCHES_AT_ONCE, thread_name_prefix="search")
        self._pace: dict[str, BuildPace] = {}
        self._longest_wait = wait_for_vectors
        self._closing = False

    async def open(self) -> None:
        """Open the built collections, continue interrupted builds, and begin the default collection at the first start.

        Raises `Conflict` where a Qdrant server has an index of a collection's name that this home did not make.
        """
        catalogue = self._shelves.catalogue
        if DEFAULT_COLLECTION not in self._library.list_collections():
            catalogue.add(Collection(name=DEFAULT_COLLECTION, kind=CorpusKind.SOTU), datetime.now(UTC))
        for name in self._library.list_collections():
            await asyncio.to_thread(self._refuse_strange_index, name)
        for name in self._library.list_collections():
            await asyncio.to_thread(self._library.refresh, name)
            await self._resume(name)

    def _refuse_strange_index(self, name: str) -> None:
        """Raise `Conflict` where another home on the same server has a collection of this name: each would delete the other's."""
        searched = None if self._shelves.index_folder else self._shelves.index.resolve(name)
        if searched is not None and self._shelves.catalogue.find_generation(searched) is None:
            raise Conflict(
                f"the Qdrant server has an index of {name!r} that this home did not make: set RUBRICA_QDRANT_PREFIX"
                " to a name that no other home uses there, or delete that index if its home is gone"
            )

    async def close(self) -> None:
        """Stop the builds, which continue at the next start. Searches fail from now on as unavailable."""
        self._closing = True
        await self._builds.stop_all()
        self._searching.shutdown(wait=False, cancel_futures=True)

    async def search(self, query: str, limit: int, where: SearchFilter) -> list[Passage]:
        """Run `Library.search` in a thread, after each collection's first index is ready, and its vectors where they are soon."""
        await self._wait_for_indexes(where)
        await self._wait_for_vectors(where)
        return await self._run_in_thread(lambda: self._search(query, limit, where))

    def _search(self, query: str, limit: int, where: SearchFilter) -> list[Passage]:
        found = self._library.search(query, limit, where)
        return mark_screened(found, self._shelves.screened, self._library)

    async def respell(self, words: Sequence[str], where: SearchFilter) -> dict[str, str]:
        """Run `Library.respell` in a thread, as `search` does."""
        await self._wait_for_indexes(where)
        return await self._run_in_thread(lambda: self._library.respell(words, where))

    async def compare(self, query: str, texts: Sequence[str]) -> list[float]:
        """Run `Library.compare` in a thread."""
        return await self._run_in_thread(lambda: self._library.compare(query, texts))

    async def rate(self, question: str, texts: Sequence[str]) -> list[float]:
        """Run `Library.rate` in a thread."""
        return await self._run_in_thread(lambda: self._library.rate(question, texts))

    async def read_whole(self, where: SearchFilter, most_chars: int) -> list[Document] | None:
        """Run `WholeCollections.read` in a thread, after each collection's first index is ready."""
        await self._wait_for_indexes(where)
        return await self._run_in_thread(lambda: self._whole.read(where, most_chars))

    async def describe(self, where: SearchFilter) -> list[CollectionDescription]:
        """Run `DescribedCollections.describe` in a thread, after each collection's first index is ready."""
        await self._wait_for_indexes(where)
        return await self._run_in_thread(lambda: self._described.describe(where))

    async def _run_in_thread(self, search: Callable[[], T]) -> T:
        if self._closing:
            raise ToolUnavailable("the index owner is stopping; try again when it has started again")
        return await asyncio.get_running_loop().run_in_executor(self._searching, search)

    async def _wait_for_indexes(self, where: SearchFilter) -> None:
        names = where.collections or (DEFAULT_COLLECTION,)
        if not all(map(self._library.is_ready, names)):
            # Before waiting, because the time of an answer must not reveal a collection's tenant.
            permitted = await asyncio.to_thread(self._library.list_permitted, where)
            with suppress(TimeoutError):
                async with asyncio.timeout(WAIT_FOR_INDEX.total_seconds()):
                    for name in permitted:
                        await self._wait_until_ready(name)
            building = [name for name in permitted if self._builds.is_running(name)]
            if building and not any(map(self._library.is_ready, permitted)):
                raise StillBuilding(f"the collection {building[0]!r} is still being built; try again shortly")

    async def _wait_for_vectors(self, where: SearchFilter) -> None:
        names = where.collections or (DEFAULT_COLLECTION,)
        if any(map(self._find_wait, names)):
            for name in await asyncio.to_thread(self._library.list_permitted, where):
                await self._wait_until_encoded(name)

    def _find_wait(self, name: str) -> float:
        """Return the seconds that a search of this collection waits for its vectors at most."""
        build, pace = self._build_of(name), self._pace.get(name)
        if build is None or pace is None or not self._builds.is_running(name):
            return 0.0
        return pace.find_wait(build, monotonic(), self._longest_wait)

    async def build(self, collection: Collection) -> dict[str, Any]:
        """Build a collection from its corpus (again), and return its state."""
        if collection.kind is not CorpusKind.SOTU and not await asyncio.to_thread(Path(collection.path).exists):
            raise InvalidInput(f"there is nothing at {collection.path!r}")
        async with self._building:
            self._refuse_another_owner(collection)
            self._shelves.catalogue.add(collection, datetime.now(UTC))
            await self._builds.stop_encoding(collection.name)
            await self._begin_build(collection.name)
        return self.state_of(collection.name)

    async def remove(self, name: str) -> None:
        """Delete a collection with everything that belongs to it."""
        self._shelves.catalogue.get(name)
        if name == DEFAULT_COLLECTION:
            raise Conflict(f"{name!r} is the default collection and stays")
        await self._builds.stop(name)
        self._steps.pop(name, None)
        await asyncio.to_thread(self._library.remove, name)

    def list_documents(self, name: str) -> tuple[list[UploadState], int]:
        """Return the state of each document of a collection of uploads, and the number of stored ones without a file.

        Raises `NotFound` without the collection.
        """
        collection = self._shelves.catalogue.get(name)
        if collection.kind is not CorpusKind.UPLOADS:
            raise InvalidInput(f"the documents of {name!r} are not uploads")
        failed = {entry.path: entry.reason for entry in self._shelves.catalogue.list_unreadable(name)}
        stored = self._shelves.store.list_states(name)
        states = upload_states_of(Path(collection.path), stored, failed)
        there = {(state.address, state.snapshot) for state in states}
        return states, sum(key not in there or state is StoredState.GONE for key, state in stored.items())

    def _refuse_another_owner(self, collection: Collection) -> None:
        """Raise `Conflict` where the collection belongs to another tenant, which never changes."""
        known = collection.name in self._library.list_collections()
        if known and self._shelves.catalogue.get(collection.name).tenant != collection.tenant:
            raise Conflict(f"{collection.name!r} belongs to somebody else")

    def state_of(self, name: str) -> dict[str, Any]:
        """Return the state of a collection: kind, size, build phase with its pace, unreadable items."""
        collection = self._shelves.catalogue.get(name)
        build = self._build_of(name)
        generation = self._library.generation_of(name)
        return {
            **collection.model_dump(mode="json"),
            "searchable": generation is not None,
            "dense": generation.dense if generation else False,
            "documents": self._shelves.store.count(name),
            "passages": self._shelves.index.count(generation.name) if generation else 0,
            "building": self._builds.is_running(name),
            "build": build.model_dump(mode="json") | self._speed_of(build) if build else None,
            "unreadable": [entry._asdict() for entry in self._shelves.catalogue.list_unreadable(name)],
        }

    async def statistics_of(self, name: str) -> dict[str, Any]:
        """Return the statistics of a collection; see `statistics`."""
        self._shelves.catalogue.get(name)
        return await asyncio.to_thread(count_statistics, self._shelves, name)

    async def verify(self, name: str, told: Callable[[CollectionVerification], None]) -> CollectionVerification:
        """Verify a collection; see `verify`. `told` is called in another thread. Raises `Conflict` while it is being built."""
        self._shelves.catalogue.get(name)
        if self._builds.is_running(name):
            raise Conflict(f"{name!r} is being built; verify it when that is done")
        return await asyncio.to_thread(verify_collection, self._shelves, name, told)

    def list_states(self) -> list[dict[str, Any]]:
        """Return the `state` of every collection."""
        return [self.state_of(name) for name in self._library.list_collections()]

    async def _resume(self, name: str) -> None:
        build = self._shelves.catalogue.find_build(name)
        generation = self._library.generation_of(name)
        lost = generation is None and build is not None and build.phase in (BuildPhase.ENCODING, BuildPhase.DONE)
        if build is None or lost or (generation is not None and generation.recipe != RECIPE):
            await self._begin_build(name)
        elif build.phase is BuildPhase.FAILED:  # a new try, whose watchers must not read the last one's reason
            again = {"phase": BuildPhase.READING, "detail": "", "corpus_state": "", "updated_at": datetime.now(UTC)}
            self._steps[name] = build.model_copy(update=again)
            self._builds.start(name, BuildPhase.READING)
        elif build.phase is not BuildPhase.DONE or (generation is not None and not generation.dense):
            self._builds.start(name, BuildPhase.ENCODING if build.phase is BuildPhase.DONE else build.phase)
        elif not self._shelves.screened.is_whole(name, name_finder()):
            self._builds.start(name, build.phase)

    async def _begin_build(self, name: str) -> None:
        """Start a new build, whose state replaces the last one's."""
        build = await asyncio.to_thread(begin_build, self._shelves.catalogue, name, datetime.now(UTC))
        self._steps[name] = build
        self._builds.start(name, build.phase)

    async def _on_step(self, build: Build) -> None:
        """Publish a step with its pace. A new phase is published once its index can be searched: until then, searches wait."""
        last, pace, now = self._steps.get(build.collection), self._pace.get(build.collection), monotonic()
        if last is None or last.phase is not build.phase:
            await asyncio.to_thread(self._library.refresh, build.collection)
        self._pace[build.collection] = pace.continue_with(build, now) if pace else BuildPace.begin(build, now)
        self._steps[build.collection] = build

    async def _on_giving_up(self, name: str, code: int) -> None:
        """Store the failure of a builder that has died repeatedly."""
        build = self._shelves.catalogue.find_build(name)
        if build is not None:
            detail = f"the builder ended {ATTEMPTS} times with code {code}; the log of the index owner says why"
            failed = build.model_copy(update={"phase": BuildPhase.FAILED, "detail": detail, "updated_at": datetime.now(UTC)})
            await asyncio.to_thread(self._shelves.catalogue.keep_build, failed)

    def _build_of(self, name: str) -> Build | None:
        step = self._steps.get(name) if self._builds.is_running(name) else None
        return step or self._shelves.catalogue.find_build(name)

    async def _wait_until_ready(self, name: str) -> None:
        async with self._builds.changed:
            await self._builds.changed.wait_for(lambda: self._library.is_ready(name) or not self._builds.is_running(name))

    async def _wait_until_encoded(self, name: str) -> None:
        async with self._builds.changed:
            with suppress(TimeoutError):
                encoded = self._builds.changed.wait_for(lambda: not self._find_wait(name))
                await asyncio.wait_for(encoded, self._find_wait(name))

    def _speed_of(self, build: Build) -> dict[str, Any]:
        pace = self._pace.get(build.collection)
        rate = pace.measure(build, monotonic()) if pace else None
        left = (build.total - build.done) / rate if rate and build.total else None
        return {"per_second": round(rate, 1) if rate else None, "seconds_left": round(left, 1) if left is not None else None}
