"""The seam to where artifacts lie: a folder of this machine, or a store that downloads to one."""

from pathlib import Path
from typing import Protocol


class ArtifactStore(Protocol):
    """Keeps folders of files by their digests (`digests.py`). Calls read and write whole files: make them in a thread."""

    def put(self, folder: Path) -> str:
        """Keep a copy of a folder and return its digest. What is kept already is not written again.

        Raises:
            InvalidInput: the folder has a link, an odd name, nothing or too much in it.
            SetupError: the store cannot be written.
            Unavailable: it does not answer now. Here and below it can be asked again.
        """
        ...

    def get(self, digest: str) -> Path:
        """Return a folder of this machine with the files of this digest, verified. It is not to be written to.

        Raises:
            NotFound: nothing of this digest is kept.
            SetupError: what is kept is damaged, or cannot be read.
        """
        ...

    def has(self, digest: str) -> bool:
        """Say whether something of this digest is kept, without reading it."""
        ...

    def delete(self, digest: str) -> None:
        """Delete what is kept of this digest, if it is there.

        Raises:
            SetupError: it cannot be deleted.
        """
        ...
