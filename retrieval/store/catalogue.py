"""Which collections there are, the generations of their indexes, and how far a build has come."""

import re
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from app.domain.errors import InvalidInput, NotFound
from app.domain.value import Value
from retrieval.corpora.ports import Unreadable
from retrieval.store.database import Database

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
MAX_UNREADABLE = 1_000
"""How much of what could not be read is told one by one; the rest is counted."""


class CorpusKind(StrEnum):
    """The kinds of corpora a collection can be built from."""

    SOTU = "sotu"
    FOLDER = "folder"
    UPLOADS = "uploads"
    BEIR = "beir"
    WIKIPEDIA = "wikipedia"
    WIKIPEDIA_PASSAGES = "wikipedia-passages"
    PAPERS = "papers"
    RECORDS = "records"


class BuildPhase(StrEnum):
    """Where a build stands. From `encoding` on the collection can be searched, by words only until `done`."""

    READING = "reading"
    INDEXING = "indexing"
    ENCODING = "encoding"
    DONE = "done"
    FAILED = "failed"

    @property
    def finished(self) -> bool:
        """True when nothing more will happen by itself."""
        return self in (BuildPhase.DONE, BuildPhase.FAILED)


class Collection(Value):
    """A named set of documents. `path` is a folder or file on this machine, empty for a packaged corpus.

    `licence` is that of its documents where they do not state one themselves; empty leaves it to the reader of this kind.
    `tenant` is who its passages belong to, empty for all; it stays what it was when the collection was made.
    """

    name: str
    kind: CorpusKind
    path: str = ""
    licence: str = ""
    tenant: str = ""


class Generation(Value):
    """One index of a collection. `recipe` fixed its contents.

    `encoder` names what made its dense vectors, and `dense` says whether searches use them: every passage has one or, while
    a few new passages still wait for theirs, nearly every one.
    """

    name: str
    collection: str
    recipe: str
    average_length: float
    average_window: float = 0.0
    encoder: str = ""
    dense: bool = False


class Build(Value):
    """The state of a collection's latest build; `done` and `total` count documents while reading and indexing, then passages.

    While reading, `total` is an estimate, and 0 where there is none. `skipped` counts what could not be read. `corpus_state` says
    which state of the corpus is being read: in the same state a reading that was cut off goes on where it was.
    """

    collection: str
    number: int
    phase: BuildPhase
    generation: str = ""
    done: int = 0
    total: int = 0
    started_at: datetime
    updated_at: datetime
    detail: str = ""
    skipped: int = 0
    corpus_state: str = ""


def collection_of(index: str) -> str:
    """The collection an index belongs to: indexes are named `<collection>.<build number>.<what it holds>`."""
    return index.rsplit(".", 2)[0]


def no_collection(name: str) -> NotFound:
    """The same for a collection that is not there and for one that is another tenant's."""
    return NotFound(f"there is no collection {name!r}; `rubrica corpus list` shows those there are")


class Catalogue:
    """Collections, generations and builds of one home."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, collection: Collection, now: datetime) -> None:
        """Create a collection or change where it is read from; `InvalidInput` for a bad name."""
        if not _NAME.fullmatch(collection.name):
            raise InvalidInput(
                f"{collection.name!r} cannot name a collection: use up to 63 of a-z, 0-9, - and _, first a letter or digit"
            )
        with self._db.transaction() as connection:
            connection.execute(
                "INSERT INTO collections (name, kind, path, created_at, licence, tenant) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, path = excluded.path, licence = excluded.licence",
                (collection.name, collection.kind, collection.path, now.isoformat(), collection.licence, collection.tenant),
            )

    def get(self, name: str) -> Collection:
        """The collection of this name, or `NotFound`."""
        row = self._row("SELECT name, kind, path, licence, tenant FROM collections WHERE name = ?", name)
        if row is None:
            raise no_collection(name)
        return Collection.of_any_version(dict(row))

    def all(self) -> list[Collection]:
        """Every collection, by name."""
        rows = self._db.connection().execute("SELECT name, kind, path, licence, tenant FROM collections ORDER BY name")
        return [Collection.of_any_version(dict(row)) for row in rows]

    def remove(self, name: str) -> None:
        """Forget a collection, its generations, its build and what could not be read of it."""
        with self._db.transaction() as connection:
            connection.execute("DELETE FROM collections WHERE name = ?", (name,))
            connection.execute("DELETE FROM generations WHERE collection = ?", (name,))
            connection.execute("DELETE FROM builds WHERE collection = ?", (name,))
            connection.execute("DELETE FROM unreadable WHERE collection = ?", (name,))

    def generation(self, name: str) -> Generation | None:
        """An index's record, if there is one of this name."""
        row = self._row(
            "SELECT name, collection, recipe, average_length, average_window, encoder, dense FROM generations WHERE name = ?",
            name,
        )
        return Generation.of_any_version(dict(row) | {"dense": bool(row["dense"])}) if row else None

    def keep_generation(self, generation: Generation) -> None:
        """Insert or replace an index's record."""
        with self._db.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO generations (name, collection, recipe, average_length, average_window, encoder, dense)"
                " VALUES (:name, :collection, :recipe, :average_length, :average_window, :encoder, :dense)",
                generation.model_dump(),
            )

    def drop_generation(self, name: str) -> None:
        """Forget an index's record."""
        with self._db.transaction() as connection:
            connection.execute("DELETE FROM generations WHERE name = ?", (name,))

    def build(self, collection: str) -> Build | None:
        """The latest build of a collection."""
        row = self._row("SELECT * FROM builds WHERE collection = ?", collection)
        return Build.of_any_version(dict(row)) if row else None

    def keep_build(self, build: Build) -> None:
        """Insert or replace the state of a collection's build."""
        values = build.model_dump(mode="json")
        columns = ", ".join(values)
        with self._db.transaction() as connection:
            marks = ", ".join("?" * len(values))
            connection.execute(f"INSERT OR REPLACE INTO builds ({columns}) VALUES ({marks})", tuple(values.values()))

    def unreadable(self, collection: str) -> list[Unreadable]:
        """What the latest reading had to skip, the first `MAX_UNREADABLE` of it."""
        rows = self._db.connection().execute(
            "SELECT path, reason FROM unreadable WHERE collection = ? ORDER BY path", (collection,)
        )
        return [Unreadable(row["path"], row["reason"]) for row in rows]

    def forget_unreadable(self, collection: str) -> None:
        """Begin a new list of what a reading had to skip."""
        with self._db.transaction() as connection:
            connection.execute("DELETE FROM unreadable WHERE collection = ?", (collection,))

    def add_unreadable(self, collection: str, skipped: Sequence[Unreadable]) -> None:
        """Add to that list, while it has room; what is in it already is not added again."""
        with self._db.transaction() as connection:
            there = set(map(tuple, connection.execute("SELECT path, reason FROM unreadable WHERE collection = ?", (collection,))))
            fresh = [entry for entry in dict.fromkeys(skipped) if entry not in there][: max(0, MAX_UNREADABLE - len(there))]
            connection.executemany(
                "INSERT INTO unreadable (collection, path, reason) VALUES (?, ?, ?)", [(collection, *entry) for entry in fresh]
            )

    def _row(self, query: str, key: str) -> sqlite3.Row | None:
        found: sqlite3.Row | None = self._db.connection().execute(query, (key,)).fetchone()
        return found
