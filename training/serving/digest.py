"""The digest of an adapter's folder, and the names of adapters that are made of it."""

import hashlib
import re
from pathlib import Path

from app.domain.errors import InvalidInput, NotFound

SHOWN = 12
_ENDS_WITH_DIGEST = re.compile(rf"-([0-9a-f]{{{SHOWN}}})$")


def digest_folder(folder: Path) -> str:
    """Return the SHA-256 (hex) of a folder: that of the lines which `sha256sum` prints of its files, in the order of their names.

    In a shell, from within the folder: `find -L . -type f | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum`.

    Raises:
        NotFound: there is no such folder, or nothing in it.
        InvalidInput: a file cannot be read.
    """
    paths = {path.relative_to(folder).as_posix().encode(): path for path in folder.rglob("*") if path.is_file()}
    if not paths:
        raise NotFound(f"No adapter found for {folder}: it is no folder with files")
    lines = hashlib.sha256()
    try:
        for name, path in sorted(paths.items()):
            with path.open("rb") as file:
                lines.update(hashlib.file_digest(file, "sha256").hexdigest().encode() + b"  ./" + name + b"\n")
    except OSError as error:
        raise InvalidInput(f"{error.filename} cannot be read: {error.strerror}") from error
    return lines.hexdigest()


def name_adapter(role: str, version: int, digest: str) -> str:
    """Return the name under which servers know an adapter for good: its role, version and the beginning of its digest."""
    return f"{role}-{version}-{digest[:SHOWN]}"


def check_name(name: str, digest: str) -> None:
    """Check that a name which ends with a digest is that of this folder.

    Raises:
        InvalidInput: it is another's.
    """
    stated = _ENDS_WITH_DIGEST.search(name)
    if stated and not digest.startswith(stated[1]):
        raise InvalidInput(f"the digest of the folder is {digest[:SHOWN]}, and the name {name!r} is of another one")
