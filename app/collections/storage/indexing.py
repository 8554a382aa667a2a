"""The way of own documents into the index, and out of everything: work for no particular person.

`trusted` is the worker's role, which sees all organisations.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.collections.nouns import DocumentState
from app.database.engine import Executor, translate_outages

UNSETTLED = """
    SELECT c.id, c.organisation_id, c.deleted_at IS NOT NULL AS deleted, greatest(c.deleted_at, d.changed_at) AS changed_at
    FROM collections c LEFT JOIN (SELECT collection_id, max(greatest(received_at, deleted_at)) AS changed_at
                                  FROM collection_documents WHERE state NOT IN ('indexed', 'failed')
                                  GROUP BY collection_id) d ON d.collection_id = c.id
    WHERE (c.deleted_at IS NOT NULL OR d.collection_id IS NOT NULL) AND c.id > $1 ORDER BY c.id LIMIT $2"""
# A document on its way out keeps that state; its hash is still wanted.
NOTE = """
    UPDATE collection_documents d SET state = CASE WHEN d.deleted_at IS NULL THEN n.state ELSE d.state END,
                                      detail = n.detail, snapshot = n.snapshot, characters = n.characters
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[]) AS n (id, state, detail, snapshot, characters)
    WHERE d.collection_id = $1 AND d.id = n.id
    AND (d.state, d.detail, d.snapshot) IS DISTINCT FROM (n.state, n.detail, n.snapshot)"""
DOCUMENTS = "SELECT id, snapshot, state, deleted_at IS NOT NULL AS deleted FROM collection_documents WHERE collection_id = $1"
DROP_DOCUMENT = "DELETE FROM collection_documents WHERE id = $1"
DROP_COLLECTION = "DELETE FROM collections WHERE id = $1"
KEPT = """
    SELECT EXISTS (SELECT FROM collections WHERE id = $1) OR EXISTS (SELECT FROM collection_documents WHERE id = $1)"""
# A run that searches another collection with the same text keeps it.
# A change or a question to a report that is under way may have read the text already: its run has not ended with it.
READERS = """
    SELECT r.id AS run_id, r.finished_at IS NOT NULL
           AND NOT EXISTS (SELECT FROM report_tasks t WHERE t.run_id = r.id AND t.status = 'queued') AS finished
    FROM collection_runs cr JOIN runs r ON r.id = cr.run_id
    WHERE cr.collection_id = $1
    AND NOT EXISTS (SELECT FROM collection_documents d JOIN collection_runs o ON o.collection_id = d.collection_id
                    WHERE d.snapshot = $2 AND d.deleted_at IS NULL AND o.run_id = cr.run_id)
    AND (r.finished_at IS NULL
         OR EXISTS (SELECT FROM report_tasks t WHERE t.run_id = r.id
                    AND (t.status = 'queued' OR position($2 IN t.answer::text) > 0))
         OR EXISTS (SELECT FROM run_sources s WHERE s.run_id = r.id AND s.hash = $2)
         OR EXISTS (SELECT FROM stages s WHERE s.run_id = r.id AND position($2::text::bytea IN s.result) > 0)
         OR EXISTS (SELECT FROM turns t WHERE t.run_id = r.id AND position($2::text::bytea IN t.body) > 0)
         OR EXISTS (SELECT FROM tool_calls t WHERE t.run_id = r.id AND position($2::text::bytea IN t.result) > 0))"""


class UnsettledCollection(NamedTuple):
    """A collection in which something is on its way in or out; at `changed_at` somebody last sent or deleted such a thing."""

    id: UUID
    organisation_id: UUID
    deleted: bool
    changed_at: datetime


class IndexProgress(NamedTuple):
    """How far the index is with a document."""

    id: UUID
    state: str
    detail: str
    snapshot: str
    characters: int


class UnsettledDocument(NamedTuple):
    """A document as the database has it; its `snapshot` is empty until it was read."""

    id: UUID
    snapshot: str
    state: DocumentState
    deleted: bool


class ReadingRun(NamedTuple):
    """A run that has read a document, or may yet do so."""

    run_id: UUID
    finished: bool


async def list_unsettled(trusted: Executor, after: UUID, limit: int) -> Sequence[UnsettledCollection]:
    """List up to `limit` collections that need tending, in the order of their ids, with ids after `after`."""
    async with translate_outages():
        return [UnsettledCollection(*row) for row in await trusted.fetch(UNSETTLED, after, limit)]


async def note_progress(trusted: Executor, collection: UUID, progress: Sequence[IndexProgress]) -> None:
    """Keep how far the index is with these documents."""
    columns = [list(column) for column in zip(*progress, strict=True)] or [[], [], [], [], []]
    async with translate_outages():
        await trusted.execute(NOTE, collection, *columns)


async def list_documents(trusted: Executor, collection: UUID) -> Sequence[UnsettledDocument]:
    """Return all documents of a collection, those on their way out included."""
    async with translate_outages():
        rows = await trusted.fetch(DOCUMENTS, collection)
    return [UnsettledDocument(row["id"], row["snapshot"], DocumentState(row["state"]), row["deleted"]) for row in rows]


async def drop_document(trusted: Executor, document: UUID) -> None:
    """Forget a document of which nothing is left."""
    async with translate_outages():
        await trusted.execute(DROP_DOCUMENT, document)


async def drop_collection(trusted: Executor, collection: UUID) -> None:
    """Forget a collection of which nothing is left."""
    async with translate_outages():
        await trusted.execute(DROP_COLLECTION, collection)


async def is_kept(trusted: Executor, id_: UUID) -> bool:
    """Say whether anything is left of a collection or document."""
    async with translate_outages():
        return bool(await trusted.fetchval(KEPT, id_))


async def list_readers(trusted: Executor, collection: UUID, snapshot: str) -> Sequence[ReadingRun]:
    """Return the runs that keep something of this text, and those that have not ended and may come to."""
    async with translate_outages():
        return [ReadingRun(*row) for row in await trusted.fetch(READERS, collection, snapshot)]
