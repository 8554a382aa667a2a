"""The document store: immutable snapshots by hash, and the documents of each collection that point at them."""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from app.domain.errors import NotFound
from app.domain.evidence import Source, content_key
from app.domain.query import detect_language
from retrieval.database import Database
from retrieval.ports import Document
from retrieval.text_cache import TextCache

_LANGUAGE_SAMPLE = 2_000
_CACHED_SOURCES = 8_192


class DocumentState(StrEnum):
    """Where a document stands with regard to the collection's live index."""

    NEW = "new"
    LIVE = "live"
    GONE = "gone"


class StoredDocument(NamedTuple):
    """A document as listed: its key in the index, its source, its language."""

    key: str
    source: Source
    language: str


class DocumentStore:
    """Documents and snapshots of one home."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._texts = TextCache(self._read_text)
        self._source = lru_cache(_CACHED_SOURCES)(self._read_source)

    def add(self, collection: str, documents: Iterable[Document], build: int, fetched_at: datetime) -> None:
        """Store documents that build number `build` has read. One that is there already is only marked as seen."""
        with self._db.transaction() as connection:
            for document in documents:
                _add(connection, collection, document, build, fetched_at)

    def mark_gone(self, collection: str, build: int) -> None:
        """Documents that a complete reading, build number `build`, no longer found are to leave the index."""
        with self._db.transaction() as connection:
            _delete(connection, "collection = ? AND seen <> ? AND state = ?", (collection, build, DocumentState.NEW))
            connection.execute(
                "UPDATE documents SET state = ? WHERE collection = ? AND seen <> ?", (DocumentState.GONE, collection, build)
            )

    def settle(self, collection: str) -> None:
        """The index now holds exactly the documents that are not gone: forget those that are."""
        with self._db.transaction() as connection:
            _delete(connection, "collection = ? AND state = ?", (collection, DocumentState.GONE))
            connection.execute(
                "UPDATE documents SET state = ? WHERE collection = ? AND state = ?",
                (DocumentState.LIVE, collection, DocumentState.NEW),
            )

    def forget(self, collection: str) -> None:
        """Delete all documents of a collection, and snapshots that no document needs."""
        with self._db.transaction() as connection:
            _delete(connection, "collection = ?", (collection,))
            connection.execute("DELETE FROM unreadable WHERE collection = ?", (collection,))

    def unwritten(self, collection: str, generation: str, states: Sequence[DocumentState]) -> Iterator[StoredDocument]:
        """Documents in one of `states` that have not been written to the index `generation`, in the order of reading."""
        marks = ",".join("?" * len(states))
        rows = self._db.connection().execute(
            f"SELECT key, source, language FROM documents WHERE collection = ? AND written <> ? AND state IN ({marks})"
            " ORDER BY id",
            (collection, generation, *states),
        )
        for row in rows.fetchall():
            yield StoredDocument(row["key"], Source.model_validate_json(row["source"]), row["language"])

    def mark_written(self, collection: str, keys: Sequence[str], generation: str) -> None:
        """These documents' passages are on disk in the index `generation`."""
        with self._db.transaction() as connection:
            connection.executemany(
                "UPDATE documents SET written = ? WHERE collection = ? AND key = ?",
                [(generation, collection, key) for key in keys],
            )

    def keys(self, collection: str, state: DocumentState) -> list[str]:
        """Keys of the collection's documents in this state."""
        query = "SELECT key FROM documents WHERE collection = ? AND state = ? ORDER BY id"
        return [row["key"] for row in self._db.connection().execute(query, (collection, state))]

    def count(self, collection: str) -> int:
        """Number of documents that are not gone."""
        query = "SELECT count(*) FROM documents WHERE collection = ? AND state <> ?"
        return int(self._db.connection().execute(query, (collection, DocumentState.GONE)).fetchone()[0])

    def source(self, collection: str, key: str) -> Source | None:
        """The source of a document by its key, or None when it has gone."""
        try:
            return self._source(collection, key)
        except NotFound:
            return None

    def text(self, snapshot: str) -> str:
        """A snapshot's text; `NotFound` when it is not stored."""
        return self._texts.get(snapshot)

    def by_url(self, url: str, collections: Sequence[str]) -> Document | None:
        """The newest document stored under an address; empty `collections` means any."""
        query = "SELECT collection, source FROM documents WHERE url = ? ORDER BY fetched_at DESC, id DESC"
        for row in self._db.connection().execute(query, (url,)):
            if not collections or row["collection"] in collections:
                source = Source.model_validate_json(row["source"])
                return Document(source=source, text=self.text(source.snapshot))
        return None

    def _read_text(self, snapshot: str) -> str:
        row = self._db.connection().execute("SELECT text FROM snapshots WHERE hash = ?", (snapshot,)).fetchone()
        if row is None:
            raise NotFound(f"no snapshot {snapshot} is stored")
        return zlib.decompress(row["text"]).decode()

    def _read_source(self, collection: str, key: str) -> Source:
        query = "SELECT source FROM documents WHERE collection = ? AND key = ?"
        row = self._db.connection().execute(query, (collection, key)).fetchone()
        if row is None:  # raised, not returned: what is missing now must not be remembered as missing
            raise NotFound(f"no document {key} in {collection}")
        return Source.model_validate_json(row["source"])


def document_key(source: Source) -> str:
    """The key of a document in the index: another text, title or address is another document."""
    published = source.published.isoformat() if source.published else ""
    return content_key(source.url, source.snapshot, source.title, source.author, published, source.licence, source.kind)


def _add(connection: sqlite3.Connection, collection: str, document: Document, build: int, fetched_at: datetime) -> None:
    source = document.source.model_copy(update={"collection": collection})
    key = document_key(source)
    seen = connection.execute(
        "UPDATE documents SET seen = ?, state = CASE state WHEN 'gone' THEN 'live' ELSE state END"
        " WHERE collection = ? AND key = ?",
        (build, collection, key),
    )
    if seen.rowcount:
        return
    packed = zlib.compress(document.text.encode(), 1)
    connection.execute("INSERT OR IGNORE INTO snapshots (hash, text) VALUES (?, ?)", (source.snapshot, packed))
    connection.execute(
        "INSERT INTO documents (collection, key, url, snapshot, source, language, fetched_at, state, seen)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            collection,
            key,
            source.url,
            source.snapshot,
            source.model_dump_json(),
            detect_language(document.text[:_LANGUAGE_SAMPLE]).value,
            fetched_at.isoformat(),
            DocumentState.NEW,
            build,
        ),
    )


def _delete(connection: sqlite3.Connection, condition: str, values: tuple[object, ...]) -> None:
    """Delete documents, and those of their snapshots that no other document needs."""
    deleted = connection.execute(f"DELETE FROM documents WHERE {condition} RETURNING snapshot", values).fetchall()
    connection.executemany(
        "DELETE FROM snapshots WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM documents WHERE snapshot = hash)",
        [(row["snapshot"],) for row in deleted],
    )
