"""What is done to own documents for nobody in particular: following their way into the index, and out of everything.

`trusted` is the worker's role, which sees all organisations.
"""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import orjson

from app.domain.collections import DocumentState
from app.domain.evidence import Finding
from app.storage.engine import Executor, translated

UNSETTLED = """
    SELECT c.id, c.organisation_id, c.deleted_at IS NOT NULL AS deleted FROM collections c
    WHERE c.deleted_at IS NOT NULL OR EXISTS (SELECT FROM collection_documents d WHERE d.collection_id = c.id
                                              AND d.state NOT IN ('indexed', 'failed'))
    ORDER BY c.created_at LIMIT $1"""
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
# A run that searches another collection with the same text keeps it. A run that writes a second report has the findings of the
# run it was made for.
READERS = """
    SELECT r.id AS run_id, r.finished_at IS NOT NULL AS finished
    FROM collection_runs cr JOIN runs r ON r.id = cr.run_id OR r.made_for = cr.run_id
    WHERE cr.collection_id = $1
    AND NOT EXISTS (SELECT FROM collection_documents d JOIN collection_runs o ON o.collection_id = d.collection_id
                    WHERE d.snapshot = $2 AND d.deleted_at IS NULL AND o.run_id = cr.run_id)
    AND (r.finished_at IS NULL
         OR EXISTS (SELECT FROM run_sources s WHERE s.run_id = r.id AND s.hash = $2)
         OR EXISTS (SELECT FROM stages s WHERE s.run_id = r.id AND position($2::text::bytea IN s.result) > 0)
         OR EXISTS (SELECT FROM turns t WHERE t.run_id = r.id AND position($2::text::bytea IN t.body) > 0)
         OR EXISTS (SELECT FROM tool_calls t WHERE t.run_id = r.id AND position($2::text::bytea IN t.result) > 0))"""
FINDINGS = "SELECT stage, result FROM stages WHERE run_id = $1 AND position($2::text::bytea IN result) > 0 FOR UPDATE"
SET_FINDING = "UPDATE stages SET result = $3 WHERE run_id = $1 AND stage = $2"
DROP_TURNS = "DELETE FROM turns WHERE run_id = $1"
DROP_CALLS = "DELETE FROM tool_calls WHERE run_id = $1"
# Reports made to be compared go, unless somebody took one over: then it is a version of their report. Votes and ways stay.
EMPTY_CANDIDATES = """
    WITH quoting AS (
        UPDATE candidates SET title = '', markdown = '', shown = '{}', report = '{}'
        WHERE comparison_id IN (SELECT c.comparison_id FROM candidates c JOIN comparisons p ON p.id = c.comparison_id
                                WHERE (p.run_id = $1 OR p.made_run_id = $1) AND position($2 IN c.report::text) > 0)
        RETURNING comparison_id)
    UPDATE comparisons SET failure = $3 WHERE id IN (SELECT comparison_id FROM quoting)"""
DROP_SECOND_REPORT = """
    DELETE FROM reports p USING runs r
    WHERE p.run_id = $1 AND r.id = $1 AND r.made_for IS NOT NULL AND position($2 IN p.report::text) > 0"""
DELETED = "a document that these reports quote was deleted"
DROP_CITED = "DELETE FROM run_sources WHERE run_id = $1 AND hash = $2"
DROP_SNAPSHOT = "DELETE FROM snapshots WHERE hash = $1 AND NOT EXISTS (SELECT FROM run_sources s WHERE s.hash = $1)"


class Unsettled(NamedTuple):
    """A collection in which something is on its way in or out."""

    id: UUID
    organisation_id: UUID
    deleted: bool


class Progress(NamedTuple):
    """How far the index is with a document."""

    id: UUID
    state: str
    detail: str
    snapshot: str
    characters: int


class Kept(NamedTuple):
    """A document as the database has it; its `snapshot` is empty until it was read."""

    id: UUID
    snapshot: str
    state: DocumentState
    deleted: bool


class Reader(NamedTuple):
    """A run that has read a document, or may yet do so."""

    run_id: UUID
    finished: bool


async def unsettled(trusted: Executor, limit: int) -> Sequence[Unsettled]:
    """Up to `limit` collections that need tending."""
    async with translated():
        return [Unsettled(*row) for row in await trusted.fetch(UNSETTLED, limit)]


async def note(trusted: Executor, collection: UUID, progress: Sequence[Progress]) -> None:
    """Keep how far the index is with these documents."""
    columns = [list(column) for column in zip(*progress, strict=True)] or [[], [], [], [], []]
    async with translated():
        await trusted.execute(NOTE, collection, *columns)


async def documents(trusted: Executor, collection: UUID) -> Sequence[Kept]:
    """All documents of a collection, those on their way out included."""
    async with translated():
        rows = await trusted.fetch(DOCUMENTS, collection)
    return [Kept(row["id"], row["snapshot"], DocumentState(row["state"]), row["deleted"]) for row in rows]


async def drop_document(trusted: Executor, document: UUID) -> None:
    """Forget a document of which nothing is left."""
    async with translated():
        await trusted.execute(DROP_DOCUMENT, document)


async def drop_collection(trusted: Executor, collection: UUID) -> None:
    """Forget a collection of which nothing is left."""
    async with translated():
        await trusted.execute(DROP_COLLECTION, collection)


async def readers(trusted: Executor, collection: UUID, snapshot: str) -> Sequence[Reader]:
    """The runs that keep something of this text, and those that have not ended and may come to."""
    async with translated():
        return [Reader(*row) for row in await trusted.fetch(READERS, collection, snapshot)]


async def redact(connection: Executor, run: UUID, snapshot: str) -> None:
    """Take a text out of what a run that has ended kept of it while it worked: its turns, its tools' results, its findings.

    Reports that were to be compared and quote it go too; what the run itself reported stays.
    `connection` must have a transaction open. The stored copy goes with the last run that cites it.
    """
    async with translated():
        for row in await connection.fetch(FINDINGS, run, snapshot):
            await connection.execute(SET_FINDING, run, row["stage"], _without(row["result"], snapshot))
        for statement in (DROP_TURNS, DROP_CALLS):
            await connection.execute(statement, run)
        await connection.execute(EMPTY_CANDIDATES, run, snapshot, DELETED)
        await connection.execute(DROP_SECOND_REPORT, run, snapshot)
        await connection.execute(DROP_CITED, run, snapshot)
        await connection.execute(DROP_SNAPSHOT, snapshot)


def _without(result: bytes, snapshot: str) -> bytes:
    """A finding without the quotes of a text, and without the agent's words, which may repeat it."""
    finding = Finding.model_validate(orjson.loads(result))
    kept = [place for place, quote in enumerate(finding.quotes) if quote.source.snapshot != snapshot]
    keys = {finding.quotes[place].key for place in kept}
    emptied = finding.model_copy(
        update={
            "answer": "",
            "thoughts": (),
            "gaps": (),
            "quotes": tuple(finding.quotes[place] for place in kept),
            "relevance": tuple(finding.relevance[place] for place in kept) if finding.relevance else (),
            "conflicts": tuple(conflict for conflict in finding.conflicts if keys.issuperset(conflict.quote_keys)),
        }
    )
    return emptied.model_dump_json(exclude_defaults=True).encode()
