"""Corpora in BEIR's form: JSON lines of `_id`, `title`, `text`, plain or gzipped."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from app.domain.errors import InvalidInput
from app.domain.evidence import Source, snapshot_hash
from retrieval.corpora.ports import Unreadable
from retrieval.ports import Document


class BeirCorpus:
    """A `corpus.jsonl` or `corpus.jsonl.gz`, or the folder that holds one.

    A record's address is its `url` (or `metadata.url`) where it has one, else `beir:<name>/<_id>`.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path = _corpus_file(path)
        self._name = name

    def documents(self) -> Iterator[Document | Unreadable]:
        """One document a line; a line that is not a usable record is reported."""
        with _opened(self._path) as lines:
            number = 0
            try:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        yield self._document(number, line)
            except (OSError, EOFError, zlib.error) as error:
                yield Unreadable(self._path.name, f"cut off or damaged after line {number}: {error}")

    def _document(self, number: int, line: bytes) -> Document | Unreadable:
        where = f"{self._path.name}:{number}"
        try:
            record: Any = json.loads(line)
            identity, text = str(record["_id"]), str(record["text"]).strip()
        except (ValueError, KeyError, TypeError) as error:
            return Unreadable(where, f"not a record with _id and text ({error})")
        if not text:
            return Unreadable(where, "has no text")
        metadata = record.get("metadata")
        url = record.get("url") or (metadata.get("url") if isinstance(metadata, dict) else None)
        source = Source(
            url=str(url or f"beir:{quote(self._name)}/{quote(identity)}"),
            title=str(record.get("title") or identity),
            snapshot=snapshot_hash(text),
            kind="passage",
        )
        return Document(source=source, text=text)


def _corpus_file(path: Path) -> Path:
    for candidate in (path, path / "corpus.jsonl", path / "corpus.jsonl.gz"):
        if candidate.is_file():
            return candidate
    raise InvalidInput(f"there is no corpus.jsonl or corpus.jsonl.gz at {path.name!r}")


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]
