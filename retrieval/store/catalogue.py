"""The catalogue of a home: its collections, the generations of their indexes, and the state of their builds."""

import re
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from app.domain.errors import InvalidInput, NotFound
from app.domain.value import Value
from retrieval.corpora.ports import UnreadableItem
from retrieval.store.database import StoreDatabase

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
MAX_UNREADABLE = 1_000
"""The most unreadable items that are listed for a collection; the rest is only counted."""


def check_name(name: str) -> None:
    """Check that a collection can have this name. Raises `InvalidInput` for another form."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"{name!r} cannot name a collection: use up to 63 of a-z, 0-9, - and _, first a letter or digit")


class CorpusKind(StrEnum):
    """The kind of a collection's corpus."""

    SOTU = "sotu"
    FOLDER = "folder"
    UPLOADS = "uploads"
    BEIR = "beir"
    WIKIPEDIA = "wikipedia"
    WIKIPEDIA_PASSAGES = "wikipedia-passages"
    PAPERS = "papers"
    RECORDS = "records"


class BuildPhase(StrEnum):
    """The phase of a build. From `encoding` on the collection can be searched, by words only until `done`."""

    READING = "reading"
    INDEXING = "indexing"
    ENCODING = "encoding"
    DONE = "done"
    FAILED = "failed"

    @property
    def finished(self) -> bool:
        """Whether the build has ended."""
        return self in (BuildPhase.DONE, BuildPhase.FAILED)


class Collection(Value):
    """A named set of documents. `path` is a folder or file on this machine, empty for a packaged corpus.

    `licence` is that of documents which do not state one; empty: the default of the kind. Its passages belong to `tenant`;
    empty: to everybody. The tenant of a collection never changes.
    """

    name: str
    kind: CorpusKind
    path: str = ""
    licence: str = ""
    tenant: str = ""


class Generation(Value):
    """One index of a collection, made by `recipe`.

    `encoder` is the name of the encoder of its dense vectors. `dense` says whether searches use them: then every passage has
    one, or nearly every one while a few new passages wait for theirs.
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

    While reading, `total` is an estimate, and 0 where there is none. `skipped` counts unreadable items. `corpus_state` is the
    state of the corpus: if it is the same, an interrupted reading continues where it stopped.
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
    """Return the collection of an index, whose name is `<collection>.<build number>.<content>`."""
    return index.rsplit(".", 2)[0]


def missing_collection_error(name: str) -> NotFound:
    """Return the same error for a collection that does not exist and for one of another tenant."""
    return NotFound(f"there is no collection {name!r}; `rubrica corpus list` shows those there are")


class Catalogue:
    """The collections, generations and builds of one home."""

    def __init__(self, database: StoreDatabase) -> None:
        self._db = database

    def add(self, collection: Collection, now: datetime) -> None:
        """Create a collection, or change its corpus. Raises `InvalidInput` for a bad name."""
        check_name(collection.name)
        with self._db.begin_transaction() as connection:
            connection.execute(
                "INSERT INTO collections (name, kind, path, created_at, licence, tenant) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, path = excluded.path, licence = excluded.licence",
                (collection.name, collection.kind, collection.path, now.isoformat(), collection.licence, collection.tenant),
            )

    def get(self, name: str) -> Collection:
        """Return the collection of this name. Raises `NotFound`."""
        row = self._find_row("SELECT name, kind, path, licence, tenant FROM collections WHERE name = ?", name)
        if row is None:
            raise missing_collection_error(name)
        return Collection.of_any_version(dict(row))

    def list_all(self) -> list[Collection]:
        """Return every collection, sorted by name."""
        rows = self._db.connect().execute("SELECT name, kind, path, licence, tenant FROM collections ORDER BY name")
        return [Collection.of_any_version(dict(row)) for row in rows]

    def remove(self, name: str) -> None:
        """Delete a collection with its generations, its build and its unreadable items."""
        with self._db.begin_transaction() as connection:
            connection.execute("DELETE FROM collections WHERE name = ?", (name,))
            connection.execute("DELETE FROM generations WHERE collection = ?", (name,))
            connection.execute("DELETE FROM builds WHERE collection = ?", (name,))
            connection.execute("DELETE FROM unreadable WHERE collection = ?", (name,))

    def find_generation(self, name: str) -> Generation | None:
        """Return an index's record; None where there is none of this name."""
        row = self._find_row(
            "SELECT name, collection, recipe, average_length, average_window, encoder, dense FROM generations WHERE name = ?",
            name,
        )
        return Generation.of_any_version(dict(row) | {"dense": bool(row["dense"])}) if row else None

    def keep_generation(self, generation: Generation) -> None:
        """Insert or replace an index's record."""
        with self._db.begin_transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO generations (name, collection, recipe, average_length, average_window, encoder, dense)"
                " VALUES (:name, :collection, :recipe, :average_length, :average_window, :encoder, :dense)",
                generation.model_dump(),
            )

    def drop_generation(self, name: str) -> None:
        """Delete an index's record."""
        with self._db.begin_transaction() as connection:
            connection.execute("DELETE FROM generations WHERE name = ?", (name,))

    def find_build(self, collection: str) -> Build | None:
        """Return the latest build of a collection; None where there is none."""
        row = self._find_row("SELECT * FROM builds WHERE collection = ?", collection)
        return Build.of_any_version(dict(row)) if row else None

    def keep_build(self, build: Build) -> None:
        """Insert or replace the state of a collection's build."""
        values = build.model_dump(mode="json")
        columns = ", ".join(values)
        with self._db.begin_transaction() as connection:
            marks = ", ".join("?" * len(values))
            connection.execute(f"INSERT OR REPLACE INTO builds ({columns}) VALUES ({marks})", tuple(values.values()))

    def list_unreadable(self, collection: str) -> list[UnreadableItem]:
        """Return the items that the latest reading skipped, the first `MAX_UNREADABLE` of them."""
        rows = self._db.connect().execute("SELECT path, reason FROM unreadable WHERE collection = ? ORDER BY path", (collection,))
        return [UnreadableItem(row["path"], row["reason"]) for row in rows]

    def forget_unreadable(self, collection: str) -> None:
        """Empty the list of skipped items."""
        with self._db.begin_transaction() as connection:
            connection.execute("DELETE FROM unreadable WHERE collection = ?", (collection,))

    def add_unreadable(self, collection: str, skipped: Sequence[UnreadableItem]) -> None:
        """Add new items to the list of skipped items while it has room."""
        with self._db.begin_transaction() as connection:
            there = set(map(tuple, connection.execute("SELECT path, reason FROM unreadable WHERE collection = ?", (collection,))))
            fresh = [entry for entry in dict.fromkeys(skipped) if entry not in there][: max(0, MAX_UNREADABLE - len(there))]
            connection.executemany(
                "INSERT INTO unreadable (collection, path, reason) VALUES (?, ?, ?)", [(collection, *entry) for entry in fresh]
            )

    def _find_row(self, query: str, key: str) -> sqlite3.Row | None:
        found: sqlite3.Row | None = self._db.connect().execute(query, (key,)).fetchone()
        return found
