"""Keeps encodings on disk by text and encoder, so that building an index again costs no encoding."""

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from retrieval.encoding.encoder import Encoder, Vectors


class CachingEncoder:
    """An encoder that keeps its passages in the file `path`. Queries are encoded each time. For one thread."""

    def __init__(self, encoder: Encoder, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._encoder = encoder
        self._kept = sqlite3.connect(path)
        self._kept.execute("CREATE TABLE IF NOT EXISTS encodings (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")

    @property
    def name(self) -> str:
        """The encoder's own name: these are its vectors."""
        return self._encoder.name

    @property
    def size(self) -> int:
        """The encoder's own size."""
        return self._encoder.size

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, in order; only new texts are encoded."""
        keys = [hashlib.sha256(f"{self.name}\0{text}".encode()).digest() for text in texts]
        found = {key: self._find(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        if missing:
            vectors = self._encoder.encode_passages(list(missing.values())).astype(np.float32)
            rows = [(key, vector.tobytes()) for key, vector in zip(missing, vectors, strict=True)]
            with self._kept:
                self._kept.executemany("INSERT OR REPLACE INTO encodings VALUES (?, ?)", rows)
            found.update(rows)
        return np.stack([np.frombuffer(found[key] or b"", np.float32) for key in keys])

    def encode_query(self, text: str) -> list[float]:
        """Return a query's vector."""
        return self._encoder.encode_query(text)

    def can_read(self, text: str) -> bool:
        """Tell whether the encoder can read a text."""
        return self._encoder.can_read(text)

    def _find(self, key: bytes) -> bytes | None:
        row = self._kept.execute("SELECT vector FROM encodings WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None
