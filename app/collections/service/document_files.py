"""Store files of own documents on disk: `<root>/<organisation>/<collection>/<document>/`, in the form the index owner reads."""

import asyncio
import contextlib
import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO
from uuid import UUID, uuid4

import orjson

from app.disk import translate_disk_errors

INCOMING = ".incoming"
BUFFER = 1 << 20
LEFT_BEHIND = timedelta(hours=24)
"""An upload this old was cut off."""


class IncomingFile:
    """A file that is being received, in a folder of its own beside the collections.

    Raises:
        Unavailable: the disk accepts no more.
    """

    def __init__(self, folder: Path, suffix: str) -> None:
        self._folder = folder
        with translate_disk_errors():
            folder.mkdir(parents=True, mode=0o700)
            self._file: BinaryIO = (folder / f"original{suffix}").open("xb")
        self._waiting = bytearray()
        self.size = 0

    async def write(self, chunk: bytes) -> None:
        """Add bytes."""
        self.size += len(chunk)
        self._waiting += chunk
        if len(self._waiting) >= BUFFER:
            await self._flush()

    async def keep(self, target: Path, name: str, address: str, suffix: str) -> None:
        """Move the whole file, in one step, to where the index owner looks."""
        await self._flush()
        about = {"name": name, "address": address, "suffix": suffix}
        with translate_disk_errors():
            await asyncio.to_thread(self._keep, target, orjson.dumps(about))

    async def discard(self) -> None:
        """Delete the file."""
        with contextlib.suppress(OSError):  # it may still hold bytes that the disk does not accept
            self._file.close()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _flush(self) -> None:
        waiting, self._waiting = self._waiting, bytearray()
        with translate_disk_errors():
            await asyncio.to_thread(self._file.write, waiting)

    def _keep(self, target: Path, about: bytes) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        (self._folder / "about.json").write_bytes(about)
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder.rename(target)


class DocumentFiles:
    """The files under `root`, which the index owner must see under the same path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def folder_of_collection(self, organisation: UUID, collection: UUID) -> Path:
        """Return the folder of a collection."""
        return self._root / organisation.hex / collection.hex

    def folder_of_document(self, organisation: UUID, collection: UUID, document: UUID) -> Path:
        """Return the folder of a document."""
        return self.folder_of_collection(organisation, collection) / document.hex

    def begin_file(self, suffix: str) -> IncomingFile:
        """Open a place for a file that begins to arrive."""
        return IncomingFile(self._root / INCOMING / uuid4().hex, suffix)

    def remove(self, folder: Path) -> None:
        """Delete a collection's or a document's folder, if it exists. It is moved away first, so that nobody reads half of it."""
        if folder.exists():
            aside = self._root / INCOMING / uuid4().hex
            aside.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.rename(aside)
            shutil.rmtree(aside)

    def sweep(self, now: float) -> None:
        """Delete what cut-off uploads left behind. `now` is a time as of `time.time()`."""
        for folder in (self._root / INCOMING).glob("*"):
            if now - folder.stat().st_mtime > LEFT_BEHIND.total_seconds():
                shutil.rmtree(folder, ignore_errors=True)
