"""Folders in which long work is done: one process at a time, and every file whole."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.domain.errors import Conflict, InvalidInput

LOCK, PART = "lock", ".part"


@contextmanager
def lock_folder(path: Path, marker: str) -> Iterator[None]:
    """Make the folder, if it is missing, and keep other processes out. `marker` is the file by which the folder is known.

    Raises:
        Conflict: another process works in the folder.
        InvalidInput: the folder holds something else, or cannot be written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        # A kill while the folder was begun leaves the lock and half a marker.
        begun = {LOCK, marker + PART}
        if not (path / marker).exists() and any(entry.name not in begun for entry in path.iterdir()):
            raise InvalidInput(f"{path} holds something else; give a folder of its own")
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
    try:
        _take_lock(lock, path)
        yield
    finally:
        os.close(lock)


def _take_lock(lock: int, path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Conflict(f"another process is at work in {path}; wait for it, or stop it") from error


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole, or as it was before."""
    part = path.with_name(path.name + PART)
    part.write_bytes(content)
    part.replace(path)
