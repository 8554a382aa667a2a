"""Follow own documents on their way into the index, and out of index, files and runs.

Each step reads the state and does the next thing: it can be cut off anywhere, repeated, and done by several processes at once.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from app.collections.nouns import DocumentState, index_name_of
from app.collections.service.document_files import DocumentFiles
from app.collections.service.index_owner import IndexService
from app.collections.storage import indexing as storage
from app.collections.storage import redaction
from app.collections.storage.indexing import IndexProgress, UnsettledCollection, UnsettledDocument
from app.domain.errors import Conflict, NotFound, RubricaError

PAGE = 50
BUSY = timedelta(seconds=1)
QUIET = timedelta(seconds=5)
AFTER_FAILURE = timedelta(seconds=30)
"""The time for which a failed build is left alone, and a collection after an error that nobody expects."""
FOR_RUNS = timedelta(minutes=1)
"""The time between two looks at a collection that only waits for runs, whose logs each look reads."""
ROWLESS = timedelta(minutes=10)
"""A document's folder this old without a row was left behind by a cut-off upload."""
SWEEP_EVERY = timedelta(hours=1)
FILE_LOST = "its file was lost; send it again"
WAITING = (DocumentState.RECEIVED, DocumentState.PARSED)
log = logging.getLogger(__name__)


class IndexState(NamedTuple):
    """The index's contents of a collection: documents by id, `strays` whose file is gone, and whether it is writing."""

    ids: frozenset[UUID]
    strays: int
    writing: bool


class Rest(NamedTuple):
    """The rest of a collection: until a time as of `time.monotonic()`, unless it is changed meanwhile."""

    until: float
    changed_at: datetime


class CollectionTender:
    """A worker that keeps index, files and runs in step with sent and deleted documents. `trusted` sees all organisations."""

    def __init__(self, trusted: asyncpg.Pool, files: DocumentFiles, index: IndexService) -> None:
        self._trusted = trusted
        self._files = files
        self._index = index
        self._woken = asyncio.Event()
        self._swept = 0.0
        self._rests: dict[UUID, Rest] = {}

    def wake(self) -> None:
        """Look for work now."""
        self._woken.set()

    async def keep_tending(self) -> None:
        """Tend collections until cancelled."""
        while True:
            try:
                busy = await self.tend()
            except (RubricaError, OSError) as error:
                busy = False
                log.warning("own documents wait: %s", error)
            pause = BUSY if busy else QUIET
            try:
                await asyncio.wait_for(self._woken.wait(), pause.total_seconds())
            except TimeoutError:
                continue
            self._woken.clear()

    async def tend(self) -> bool:
        """Do the next step of every collection that needs one; return True when there was any."""
        await self._sweep()
        now, busy = time.monotonic(), False
        self._rests = {id_: rest for id_, rest in self._rests.items() if rest.until > now}
        async for collection in self._list_awake():
            pause = await self._tend_safely(collection)
            self._rests[collection.id] = Rest(time.monotonic() + pause.total_seconds(), collection.changed_at)
            busy = True
        return busy

    async def _list_awake(self) -> AsyncIterator[UnsettledCollection]:
        """Yield the unsettled collections of everybody, without those that rest."""
        last = UUID(int=0)
        while page := await storage.list_unsettled(self._trusted, last, PAGE):
            for collection in page:
                rest = self._rests.get(collection.id)
                if rest is None or rest.changed_at != collection.changed_at:
                    yield collection
            last = page[-1].id

    async def _tend_safely(self, collection: UnsettledCollection) -> timedelta:
        """Do a collection's next step; return how long it can rest. No error of one collection keeps the others waiting."""
        try:
            moves = await (self._delete_collection(collection) if collection.deleted else self._tend_one(collection))
        except (RubricaError, OSError) as error:
            log.warning("the collection %s waits: %s", collection.id, error)
            return QUIET
        except Exception:
            log.exception("unexpected error with the collection %s; the next attempt is in %s", collection.id, AFTER_FAILURE)
            return AFTER_FAILURE
        return timedelta() if moves else FOR_RUNS

    async def _tend_one(self, collection: UnsettledCollection) -> bool:
        """Do the next step; return False when all that is left waits for runs to end."""
        there = await self._read_state(collection)
        kept = await storage.list_documents(self._trusted, collection.id)
        leaving = [document for document in kept if document.deleted]
        await asyncio.to_thread(self._remove_files, collection, leaving)
        await self._sweep_rowless(collection, there.ids - {document.id for document in kept})
        waiting = [document.id for document in kept if document.state in WAITING]
        lost = [id_ for id_ in waiting if not self._folder_of(collection, id_).exists()]
        await storage.note_progress(
            self._trusted, collection.id, [IndexProgress(id_, "failed", FILE_LOST, "", 0) for id_ in lost]
        )
        if there.writing:
            return True  # later changes wait for the end of this build
        if len(waiting) > len(lost) or there.strays or there.ids & {document.id for document in leaving}:
            await self._build(collection)
            return True
        return await self._forget_all(collection.id, leaving)

    async def _delete_collection(self, collection: UnsettledCollection) -> bool:
        """Delete the whole collection; return False when it waits for runs to end.

        Its documents' hashes are noted first, while the index still knows them.
        """
        await self._read_state(collection)
        try:
            await self._index.call("DELETE", f"/collections/{index_name_of(collection.id)}")
        except NotFound:
            log.debug("the collection %s is not in the index", collection.id)
        await asyncio.to_thread(self._files.remove, self._files.folder_of_collection(collection.organisation_id, collection.id))
        if not await self._forget_all(collection.id, await storage.list_documents(self._trusted, collection.id)):
            return False
        await storage.drop_collection(self._trusted, collection.id)
        return True

    async def _read_state(self, collection: UnsettledCollection) -> IndexState:
        """Read and note how far the index is with a collection."""
        name = index_name_of(collection.id)
        try:
            told = await self._index.call("GET", f"/collections/{name}/documents")
            state = await self._index.call("GET", f"/collections/{name}/progress")
        except NotFound:  # never built, or removed
            return IndexState(frozenset(), 0, False)
        await storage.note_progress(self._trusted, collection.id, [_progress_of(document) for document in told["documents"]])
        writing = state["building"] and state["build"]["phase"] in ("reading", "indexing")
        return IndexState(frozenset(UUID(document["id"]) for document in told["documents"]), told["strays"], writing)

    async def _build(self, collection: UnsettledCollection) -> None:
        name, folder = index_name_of(collection.id), self._files.folder_of_collection(collection.organisation_id, collection.id)
        if await self._has_failed_lately(name):
            return
        body = {"kind": "uploads", "path": str(folder), "tenant": str(collection.organisation_id)}
        try:
            await self._index.call("POST", f"/collections/{name}/build", body)
        except Conflict:
            log.debug("the collection %s is being built", collection.id)

    async def _has_failed_lately(self, name: str) -> bool:
        try:
            build = (await self._index.call("GET", f"/collections/{name}/progress"))["build"]
        except NotFound:
            return False
        if not build or build["phase"] != "failed":
            return False
        log.warning("the index %s could not be built: %s", name, build["detail"])
        return abs(datetime.now(UTC) - datetime.fromisoformat(build["updated_at"])) < AFTER_FAILURE

    async def _forget_all(self, collection: UUID, leaving: Sequence[UnsettledDocument]) -> bool:
        """Remove documents that left files and index from the runs, once these have ended; return True when all are gone."""
        return all([await self._forget_document(collection, document) for document in leaving])

    async def _forget_document(self, collection: UUID, document: UnsettledDocument) -> bool:
        readers = await storage.list_readers(self._trusted, collection, document.snapshot) if document.snapshot else []
        for reader in readers:
            if reader.finished:
                async with self._trusted.acquire() as connection, connection.transaction():
                    await redaction.redact(connection, reader.run_id, document.snapshot)
        # A question about a report may have read the text just before it was removed: a second look must find nothing.
        if document.snapshot and await storage.list_readers(self._trusted, collection, document.snapshot):
            return False
        await storage.drop_document(self._trusted, document.id)
        return True

    def _remove_files(self, collection: UnsettledCollection, leaving: Sequence[UnsettledDocument]) -> None:
        for document in leaving:
            self._files.remove(self._folder_of(collection, document.id))

    def _folder_of(self, collection: UnsettledCollection, document: UUID) -> Path:
        return self._files.folder_of_document(collection.organisation_id, collection.id, document)

    async def _sweep_rowless(self, collection: UnsettledCollection, rowless: frozenset[UUID]) -> None:
        for document in rowless:
            folder = self._folder_of(collection, document)
            if folder.exists() and time.time() - folder.stat().st_mtime > ROWLESS.total_seconds():
                await asyncio.to_thread(self._files.remove, folder)

    async def _sweep(self) -> None:
        if time.monotonic() - self._swept > SWEEP_EVERY.total_seconds() or not self._swept:
            self._swept = time.monotonic()
            await asyncio.to_thread(self._files.sweep, time.time())


def _progress_of(told: dict[str, Any]) -> IndexProgress:
    return IndexProgress(UUID(told["id"]), told["state"], told["detail"], told["snapshot"], told["characters"])
