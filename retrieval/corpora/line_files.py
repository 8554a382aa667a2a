"""Files of lines, far larger than memory: one file or a folder of shards, plain, gzip or bzip2."""

import bz2
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from app.domain.errors import InvalidInput
from retrieval.corpora.ports import Unreadable

MAX_LINE = 64 << 20
_BUFFER = 1 << 20


class Line(NamedTuple):
    """One line with the place it came from, `<file>:<number>`."""

    where: str
    content: bytes


class LineFiles:
    """The lines of some files, one file after the other. Empty lines are left out."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._sizes = [path.stat().st_size for path in paths]
        self._before = 0
        self._open: IO[bytes] | None = None

    def lines(self) -> Iterator[Line | Unreadable]:
        """Every line; where a file is cut off or damaged, a report of that and then the next file."""
        self._before = 0
        for path, size in zip(self._paths, self._sizes, strict=True):
            yield from self._lines_of(path)
            self._before += size

    def state(self) -> str:
        """A hash of the files' names, sizes and times of change."""
        stamps = [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in self._paths]
        return hashlib.sha256("\n".join(stamps).encode()).hexdigest()[:16]

    def share_read(self) -> float:
        """How much of the files, as they lie on disk, has been read."""
        here = self._open.tell() if self._open and not self._open.closed else 0
        return (self._before + here) / max(1, sum(self._sizes))

    def _lines_of(self, path: Path) -> Iterator[Line | Unreadable]:
        number = 0
        with path.open("rb") as self._open, unpacked(self._open, path) as content:
            try:
                while line := content.readline(MAX_LINE):
                    number += 1
                    if len(line) == MAX_LINE:
                        yield Unreadable(f"{path.name}:{number}", f"is longer than {MAX_LINE >> 20} MiB")
                        _skip_line(content)
                    elif line.strip():
                        yield Line(f"{path.name}:{number}", line)
            except (OSError, EOFError, zlib.error) as error:
                yield Unreadable(path.name, f"cut off or damaged after line {number}: {error}")


def unpacked(raw: IO[bytes], path: Path) -> IO[bytes]:
    """What is in a file, by the ending of its name: gzip, bzip2 (multistream too), or itself."""
    match path.suffix.lower():
        case ".gz":
            return io.BufferedReader(gzip.GzipFile(fileobj=raw), _BUFFER)  # type: ignore[return-value, type-var, arg-type]
        case ".bz2":
            return io.BufferedReader(bz2.BZ2File(raw), _BUFFER)  # type: ignore[return-value]
    return raw


def found_files(path: Path, endings: Sequence[str]) -> list[Path]:
    """The file at `path`, or the files in that folder with one of `endings` (packed ones too), shards in the order of their numbers.

    Raises:
        InvalidInput: there is none.
    """
    if path.is_file():
        return [path]
    wanted = tuple(ending + packing for ending in endings for packing in ("", ".gz", ".bz2"))
    there = path.iterdir() if path.is_dir() else ()
    files = [file for file in there if file.is_file() and file.name.lower().endswith(wanted) and file.name[0] != "."]
    if not files:
        raise InvalidInput(f"there is no file at {path.name!r} whose name ends in {', '.join(endings)} (or these with .gz or .bz2)")
    return sorted(files, key=lambda file: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", file.name)])


def _skip_line(content: IO[bytes]) -> None:
    while (piece := content.readline(_BUFFER)) and not piece.endswith(b"\n"):
        pass
