"""The document store: immutable snapshots by hash, and the documents of each collection that point at them."""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from app.domain.blocks import Block, read_blocks
from app.domain.errors import NotFound
from app.domain.evidence import Source, content_key
from app.domain.query import detect_language
from retrieval.ports import Document
from retrieval.search.text_cache import TextCache
from retrieval.store.database import StoreDatabase

_LANGUAGE_SAMPLE = 2_000
_CACHED_SOURCES = 8_192
"""Sources in memory: a search reads 20 to 60 of them, mostly the same ones again."""
_CACHED_BLOCKS = 256
_OF_TENANT = "FROM documents d JOIN collections c ON c.name = d.collection WHERE c.tenant IN ('', ?)"
_PAGE = 1_000
"""The documents of one step. It keeps the memory of a build independent of its corpus."""


class StoredState(StrEnum):
    """The state of a document in the collection's live index."""

    NEW = "new"
    LIVE = "live"
    GONE = "gone"


class StoredDocument(NamedTuple):
    """A listed document: its key in the index, its source, its language."""

    key: str
    source: Source
    language: str


class DocumentStore:
    """The documents and snapshots of one home."""

    def __init__(self, database: StoreDatabase) -> None:
        self._db = database
        self._texts = TextCache(self.read_text)
        self._read_source = lru_cache(_CACHED_SOURCES)(self._find_source)
        self._read_blocks = lru_cache(_CACHED_BLOCKS)(self._find_blocks)

    def add(self, collection: str, documents: Iterable[Document], build: int, fetched_at: datetime) -> None:
        """Store documents that build number `build` has read. A known one is only marked as seen."""
        with self._db.begin_transaction() as connection:
            for document in documents:
                _add_document(connection, collection, document, build, fetched_at)

    def mark_gone(self, collection: str, build: int) -> None:
        """Mark the documents that the complete reading of build number `build` did not find for removal from the index."""
        # New ones too, since an abandoned build may have written them to an index that is changed in place.
        unseen = "collection = ? AND seen <> ? AND state <> ?"
        self._set_state(StoredState.GONE, unseen, (collection, build, StoredState.GONE))

    def settle(self, collection: str) -> None:
        """Delete the documents that are gone, and mark the others as live, once the index holds exactly those."""
        self._delete("collection = ? AND state = ?", (collection, StoredState.GONE))
        self._set_state(StoredState.LIVE, "collection = ? AND state = ?", (collection, StoredState.NEW))
        self._db.shorten_log()

    def forget(self, collection: str) -> None:
        """Delete all documents of a collection, and snapshots that no document needs."""
        self._delete("collection = ?", (collection,))
        self._db.shorten_log()

    def list_documents(self, collection: str, state: StoredState, unless_written: str = "") -> Iterator[StoredDocument]:
        """Yield documents in this state that are not written to the index `unless_written`, in the order of reading."""
        query = (
            "SELECT id, key, source, language FROM documents"
            " WHERE collection = ? AND state = ? AND id > ? AND (written <> ? OR written = '') ORDER BY id LIMIT ?"
        )
        last = 0
        while rows := self._db.connect().execute(query, (collection, state, last, unless_written, _PAGE)).fetchall():
            for row in rows:
                yield StoredDocument(row["key"], Source.of_any_version(row["source"]), row["language"])
            last = rows[-1]["id"]

    def count_written(self, collection: str, generation: str) -> int:
        """Count the documents that have been written to the index `generation` and are not gone."""
        query = "SELECT count(*) FROM documents WHERE collection = ? AND written = ? AND state <> ?"
        return int(self._db.connect().execute(query, (collection, generation, StoredState.GONE)).fetchone()[0])

    def mark_written(self, collection: str, keys: Sequence[str], generation: str) -> None:
        """Mark documents whose passages are on disk in the index `generation`."""
        with self._db.begin_transaction() as connection:
            connection.executemany(
                "UPDATE documents SET written = ? WHERE collection = ? AND key = ?",
                [(generation, collection, key) for key in keys],
            )

    def count(self, collection: str) -> int:
        """Count the documents that are not gone."""
        query = "SELECT count(*) FROM documents WHERE collection = ? AND state <> ?"
        return int(self._db.connect().execute(query, (collection, StoredState.GONE)).fetchone()[0])

    def has_live(self, collection: str) -> bool:
        """Say whether the collection's live index must hold documents."""
        query = "SELECT 1 FROM documents WHERE collection = ? AND state = ? LIMIT 1"
        return self._db.connect().execute(query, (collection, StoredState.LIVE)).fetchone() is not None

    def source_of(self, collection: str, key: str) -> Source | None:
        """Return the source of a document by its key; None when it is gone."""
        try:
            return self._read_source(collection, key)
        except NotFound:
            return None

    def _find_source(self, collection: str, key: str) -> Source:
        query = "SELECT source FROM documents WHERE collection = ? AND key = ?"
        row = self._db.connect().execute(query, (collection, key)).fetchone()
        if row is None:  # raised, so that a document that is added later is not remembered as missing
            raise NotFound(f"no document {key} is in {collection}")
        return Source.of_any_version(row["source"])

    def blocks_of(self, collection: str, key: str) -> tuple[Block, ...]:
        """Return what is known of the structure of a document's text, by its key."""
        return self._read_blocks(collection, key)

    def _find_blocks(self, collection: str, key: str) -> tuple[Block, ...]:
        query = "SELECT blocks FROM blocks WHERE collection = ? AND document = ?"
        row = self._db.connect().execute(query, (collection, key)).fetchone()
        return read_blocks(json.loads(zlib.decompress(row["blocks"]))) if row else ()

    def list_states(self, collection: str) -> dict[tuple[str, str], StoredState]:
        """Return the state of each document of a collection, by its address and snapshot."""
        query = "SELECT url, snapshot, state FROM documents WHERE collection = ? ORDER BY id"
        rows = self._db.connect().execute(query, (collection,))
        return {(row["url"], row["snapshot"]): StoredState(row["state"]) for row in rows}

    def clear_memory(self) -> None:
        """Empty the caches of texts, sources and blocks."""
        self._texts.clear()
        self._read_source.cache_clear()
        self._read_blocks.cache_clear()

    def text_of(self, snapshot: str) -> str:
        """Return a snapshot's text. Raises `NotFound` when it is not stored."""
        return self._texts.get(snapshot)

    def holds(self, snapshot: str, tenant: str) -> bool:
        """Say whether a document in collections of this tenant, or of none, has this text."""
        query = f"SELECT 1 {_OF_TENANT} AND d.snapshot = ? LIMIT 1"
        return self._db.connect().execute(query, (tenant, snapshot)).fetchone() is not None

    def find_by_url(self, url: str, collections: Sequence[str], tenant: str = "") -> Document | None:
        """Return the newest document under an address in collections of this tenant or of none.

        Those in `collections` come first: folders of the same name give the same addresses.
        """
        query = f"SELECT d.collection, d.source {_OF_TENANT} AND d.url = ? ORDER BY d.fetched_at DESC, d.id DESC"
        rows = self._db.connect().execute(query, (tenant, url)).fetchall()
        row = next((row for row in rows if row["collection"] in collections), rows[0] if rows else None)
        if row is None:
            return None
        source = Source.of_any_version(row["source"])
        blocks = self.blocks_of(row["collection"], document_key_of(source))
        return Document(source=source, text=self.text_of(source.snapshot), blocks=blocks)

    def _delete(self, condition: str, values: tuple[object, ...]) -> None:
        """Delete documents, a page at a time, and their snapshots that no other document needs."""
        query = f"DELETE FROM documents WHERE {condition} AND id BETWEEN ? AND ? RETURNING snapshot"
        for page in self._pages_of(condition, values):
            with self._db.begin_transaction() as connection:
                deleted = connection.execute(query, (*values, *page)).fetchall()
                connection.executemany(
                    "DELETE FROM snapshots WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM documents WHERE snapshot = hash)",
                    [(row["snapshot"],) for row in deleted],
                )

    def _set_state(self, state: StoredState, condition: str, values: tuple[object, ...]) -> None:
        """Change the state of documents, a page at a time."""
        query = f"UPDATE documents SET state = ? WHERE {condition} AND id BETWEEN ? AND ?"
        for page in self._pages_of(condition, values):
            with self._db.begin_transaction() as connection:
                connection.execute(query, (state, *values, *page))

    def _pages_of(self, condition: str, values: tuple[object, ...]) -> Iterator[tuple[int, int]]:
        """Yield the first and last number of each page of the documents that meet a condition."""
        query = f"SELECT id FROM documents WHERE {condition} AND id > ? ORDER BY id LIMIT ?"
        last = 0
        while rows := self._db.connect().execute(query, (*values, last, _PAGE)).fetchall():
            last = rows[-1]["id"]
            yield rows[0]["id"], last

    def read_text(self, snapshot: str) -> str:
        """Read a snapshot's text from the disk; `text` may return it from memory."""
        row = self._db.connect().execute("SELECT text FROM snapshots WHERE hash = ?", (snapshot,)).fetchone()
        if row is None:
            raise NotFound(f"no snapshot {snapshot} is stored")
        return zlib.decompress(row["text"]).decode()


def document_key_of(source: Source) -> str:
    """Return the key of a document in the index. Another text, title or address is another document."""
    published = source.published.isoformat() if source.published else ""
    return content_key(source.url, source.snapshot, source.title, source.author, published, source.licence, source.kind)


def _add_document(connection: sqlite3.Connection, collection: str, document: Document, build: int, fetched_at: datetime) -> None:
    source = document.source.model_copy(update={"collection": collection})
    key = document_key_of(source)
    if document.blocks:
        told = zlib.compress(json.dumps(document.blocks).encode(), 1)
        connection.execute(
            "INSERT OR REPLACE INTO blocks (collection, document, blocks) VALUES (?, ?, ?)", (collection, key, told)
        )
    # A document marked as gone may have left the index already, so it is written again.
    seen = connection.execute(
        "UPDATE documents SET seen = ?, written = CASE state WHEN 'gone' THEN '' ELSE written END,"
        " state = CASE state WHEN 'gone' THEN 'new' ELSE state END WHERE collection = ? AND key = ?",
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
            StoredState.NEW,
            build,
        ),
    )
