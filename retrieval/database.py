"""The SQLite file behind the document store and the catalogue."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

_BUSY_SECONDS = 30.0


class Database:
    """One SQLite file, one connection a thread; readers never wait for the builder's writes (write-ahead log)."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self.connection().executescript(files("retrieval").joinpath("schema.sql").read_text())

    def connection(self) -> sqlite3.Connection:
        """This thread's connection, outside any transaction."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            found.row_factory = sqlite3.Row
            found.execute("PRAGMA journal_mode=WAL")
            found.execute("PRAGMA synchronous=NORMAL")
            self._local.connection = found
            self._all.append(found)
        return found

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: all of the block or, when it raises, nothing of it."""
        connection = self.connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def close(self) -> None:
        """Close every thread's connection."""
        for connection in self._all:
            connection.close()
        self._all.clear()
