"""The files of a corpus that is larger than memory: a file or a folder of shards, plain or packed, read one after the other."""

import bz2
import gzip
import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

from app.domain.errors import InvalidInput

_PACKINGS = ("", ".gz", ".bz2")


class Shards:
    """The file at `path`, or the files in that folder with one of `endings`, in the order of the numbers in their names.

    Raises:
        InvalidInput: there is no such file.
    """

    def __init__(self, path: Path, endings: Sequence[str]) -> None:
        self._paths = [path] if path.is_file() else _find_files(path, endings)
        self._sizes = [file.stat().st_size for file in self._paths]
        self._before = 0
        self._open: IO[bytes] | None = None

    def open_each(self) -> Iterator[tuple[str, IO[bytes]]]:
        """Yield each file's name and unpacked content; read it before the next."""
        self._before = 0
        for path, size in zip(self._paths, self._sizes, strict=True):
            with path.open("rb") as self._open, _unpack(self._open, path) as content:
                yield path.name, content
            self._before += size

    def take_fingerprint(self) -> str:
        """Return a hash of the files' names, sizes and times of change."""
        stamps = [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in self._paths]
        return hashlib.sha256("\n".join(stamps).encode()).hexdigest()[:16]

    def share_read(self) -> float:
        """Return the share of the packed files that has been read."""
        here = self._open.tell() if self._open and not self._open.closed else 0
        return (self._before + here) / max(1, sum(self._sizes))


def _find_files(folder: Path, endings: Sequence[str]) -> list[Path]:
    wanted = tuple(ending + packing for ending in endings for packing in _PACKINGS)
    there = folder.iterdir() if folder.is_dir() else ()
    files = [file for file in there if file.is_file() and file.name.lower().endswith(wanted) and file.name[0] != "."]
    if not files:
        raise InvalidInput(
            f"there is no file at {folder.name!r} whose name ends in {' or '.join(endings)} (.gz and .bz2 may follow)"
        )
    return sorted(files, key=lambda file: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", file.name)])


def _unpack(raw: IO[bytes], path: Path) -> IO[bytes]:
    """Unpack a file by the ending of its name."""
    match path.suffix.lower():
        case ".gz":
            return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
        case ".bz2":
            return bz2.BZ2File(raw)
    return raw
