"""The names of adapters, which are made of their folders' digests (`app/models/artifacts/digests.py`)."""

import re
from pathlib import Path

from app.domain.errors import InvalidInput, NotFound
from app.models.artifacts.digests import digest_folder

SHOWN = 12
_ENDS_WITH_DIGEST = re.compile(rf"-([0-9a-f]{{{SHOWN}}})$")


def digest_adapter(folder: Path) -> str:
    """Return the SHA-256 (hex) of an adapter's folder.

    Raises:
        NotFound: there is no such folder, or nothing in it.
        InvalidInput: it has a link or an odd name, or cannot be read.
    """
    if not folder.is_dir() or not any(folder.iterdir()):
        raise NotFound(f"No adapter found for {folder}: it is no folder with files")
    return digest_folder(folder)


def name_adapter(role: str, version: int, digest: str) -> str:
    """Return the name under which servers know an adapter for good: its role, version and the beginning of its digest."""
    return f"{role}-v{version}-{digest[:SHOWN]}"


def check_name(name: str, digest: str) -> None:
    """Check that a name which ends with a digest is that of this folder.

    Raises:
        InvalidInput: it is another's.
    """
    stated = _ENDS_WITH_DIGEST.search(name)
    if stated and not digest.startswith(stated[1]):
        raise InvalidInput(f"the digest of the folder is {digest[:SHOWN]}, and the name {name!r} is of another one")
