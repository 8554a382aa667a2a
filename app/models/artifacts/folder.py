"""Artifacts in a folder of this machine, or one that several machines mount.

A copy is written under a name of its own and renamed when it is whole: a digest's folder is whole, or not there.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from app.domain.errors import InvalidInput, NotFound, SetupError
from app.models.artifacts.digests import DIGEST, check_digest, digest_folder, join_digests, list_files, read_blocks

MOST_BYTES = 200 * 10**9
PART = ".part-"
LEFT_AFTER = timedelta(days=1)
"""A copy that has not grown for so long was left by a process that died."""


class FolderArtifacts:
    """An `ArtifactStore` in `root`, which is made when it is first written to. A folder of more than `most_bytes` is refused."""

    def __init__(self, root: Path, most_bytes: int = MOST_BYTES) -> None:
        self._root = root
        self._most_bytes = most_bytes

    def put(self, folder: Path) -> str:
        """Keep a copy of a folder. One that is kept but damaged is replaced."""
        files = list_files(folder)
        return self.keep((name, read_blocks(path)) for name, path in files.items())

    def keep(self, files: Iterable[tuple[str, Iterable[bytes]]], expected: str = "") -> str:
        """Keep files of these names and blocks, and return their digest.

        Raises:
            InvalidInput: they are too large, or their digest is not the expected one. Nothing of them is kept.
            SetupError: the folder cannot be written.
        """
        with self._tell_failures():
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._sweep_parts()
            part = self._name_part()
            try:
                digest = self._write(files, part)
                if expected and digest != expected:
                    raise InvalidInput(f"the files' digest is {digest}, and not {expected}")
                self._settle(part, self._root / digest)
            finally:
                shutil.rmtree(part, ignore_errors=True)
        return digest

    def get(self, digest: str) -> Path:
        """Return the folder of a digest. Each call reads all of it."""
        kept = self._root / check_digest(digest)
        if not kept.is_dir():
            raise NotFound(f"no artifact {digest} is kept in {self._root}; add its version again")
        if not _is_sound(kept):
            raise SetupError(f"the artifact {kept} is damaged; adding the same folder again replaces it")
        return kept

    def find(self, digest: str) -> Path | None:
        """Return the folder of a digest, if it is there and sound."""
        kept = self._root / check_digest(digest)
        return kept if kept.is_dir() and _is_sound(kept) else None

    def list_digests(self) -> frozenset[str]:
        """Return what is kept."""
        return frozenset(each.name for each in self._root.glob("*") if DIGEST.fullmatch(each.name))

    def has(self, digest: str) -> bool:
        """Say whether there is a folder of this digest."""
        return (self._root / check_digest(digest)).is_dir()

    def delete(self, digest: str) -> None:
        """Delete the folder of a digest."""
        kept = self._root / check_digest(digest)
        with self._tell_failures():
            self._take_away(kept)

    def _write(self, files: Iterable[tuple[str, Iterable[bytes]]], part: Path) -> str:
        """Write files and return the digest of what was written, whatever happens to the originals meanwhile."""
        part.mkdir(mode=0o755)
        left, digests = self._most_bytes, {}
        for name, blocks in files:
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            size, digests[name] = _write_file(blocks, part / name, left)
            left -= size
        _sync_folder(part)
        return join_digests(digests)

    def _settle(self, part: Path, kept: Path) -> None:
        """Give a whole copy its name, unless the same is kept, soundly."""
        if kept.is_dir() and not _is_sound(kept):
            self._take_away(kept)
        if not kept.is_dir():
            try:
                part.rename(kept)
            except OSError:
                if not kept.is_dir():  # else another process has put the same at this moment
                    raise
            _sync_folder(self._root)

    def _take_away(self, kept: Path) -> None:
        """Rename a folder, then delete it: half of it is never found under its digest."""
        part = self._name_part()
        try:
            kept.rename(part)
        except FileNotFoundError:
            return
        shutil.rmtree(part)

    def _name_part(self) -> Path:
        return self._root / f"{PART}{uuid4().hex}"

    def _sweep_parts(self) -> None:
        until = time.time() - LEFT_AFTER.total_seconds()
        for part in self._root.glob(f"{PART}*"):
            with suppress(FileNotFoundError):  # it was renamed meanwhile
                if max(each.stat().st_mtime for each in (part, *part.rglob("*"))) < until:
                    shutil.rmtree(part, ignore_errors=True)

    @contextmanager
    def _tell_failures(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise SetupError(f"artifacts cannot be kept in {self._root}: {error.strerror or error}") from error


def _is_sound(kept: Path) -> bool:
    try:
        return digest_folder(kept) == kept.name
    except (InvalidInput, OSError):
        return False


def _write_file(blocks: Iterable[bytes], place: Path, most: int) -> tuple[int, str]:
    """Write a file of at most so many bytes, read-only; return its size and SHA-256."""
    size, digest = 0, hashlib.sha256()
    with place.open("xb") as copy:
        for block in blocks:
            size += len(block)
            if size > most:
                raise InvalidInput("the folder is larger than an artifact may be; name the folder of the model alone")
            digest.update(block)
            copy.write(block)
        copy.flush()
        os.fsync(copy.fileno())
    place.chmod(0o444)
    return size, digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
