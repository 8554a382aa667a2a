"""The SQLite file behind the document store and the catalogue."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

_BUSY_SECONDS = 30.0


class StoreDatabase:
    """One SQLite file with a connection for each thread. Readers never wait for the builder's writes (write-ahead log)."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self.connect().executescript(files("retrieval.store").joinpath("schema.sql").read_text())

    def connect(self) -> sqlite3.Connection:
        """Return this thread's connection, outside of any transaction."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            found.row_factory = sqlite3.Row
            found.execute("PRAGMA journal_mode=WAL")
            found.execute("PRAGMA synchronous=NORMAL")
            found.execute("PRAGMA secure_delete=ON")  # deleted content is overwritten, not only unlinked
            self._local.connection = found
            self._all.append(found)
        return found

    @contextmanager
    def begin_transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a write transaction: it commits the block, or nothing of it when the block raises."""
        connection = self.connect()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            if connection.in_transaction:  # a full disk has already ended it
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def shorten_log(self) -> None:
        """Empty the write-ahead log, which would keep deleted content. While others read, a part may stay."""
        self.connect().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close every thread's connection."""
        for connection in self._all:
            connection.close()
        self._all.clear()
