"""Look whether the disks that this process writes to have room."""

import asyncio
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from app.domain.errors import Unavailable

LEAST_BYTES = 200 * 2**20
"""PostgreSQL ends, with all that is under way, when it cannot write; below this, nothing new is begun."""


class Disks:
    """The disks of some folders, each under the name that a reader knows. One with less than `least` bytes free is full."""

    def __init__(self, folders: Mapping[str, Path], least: int = LEAST_BYTES) -> None:
        self._folders = folders
        self._least = least

    async def require_room(self) -> None:
        """Check that no disk is full.

        Raises:
            Unavailable: one is; the message says which.
        """
        if said := await asyncio.to_thread(self._find_full):
            raise Unavailable(said)

    def _find_full(self) -> str:
        for name, folder in self._folders.items():
            free = shutil.disk_usage(_find_existing(folder)).free
            if free < self._least:
                return (
                    f"the disk of the {name} folder is full: {free >> 20} MB are free, {self._least >> 20} MB are needed; "
                    "nothing new can be stored until the operator frees some"
                )
        return ""


@contextmanager
def translate_disk_errors() -> Iterator[None]:
    """Turn the errors of writing files into `Unavailable`.

    Raises:
        Unavailable: the disk accepts no more, or the folder cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise Unavailable(f"the document cannot be stored now ({error.strerror}); try again later") from error


def _find_existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists: a folder is made with its first file."""
    absolute = folder.absolute()
    return next((path for path in (absolute, *absolute.parents) if path.exists()), Path("/"))
