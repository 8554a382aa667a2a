"""Write files whose names others give: an API may name anything, and must not choose where it is written."""

import os
from pathlib import Path

from app.domain.errors import InvalidInput

LONGEST_NAME = 200  # bytes; most file systems take 255, and the name of an unfinished file is longer
SEPARATORS = frozenset("/\\:")


def locate_file(root: Path, *names: str) -> Path:
    """Return the path of a file below `root`, which the user chose, by the names of folders and of the file.

    Raises:
        InvalidInput: a name is more than a name, or a link in the way leads out of `root`.
    """
    for name in names:
        _check_name(name)
    path = root.joinpath(*names)
    if not path.resolve().is_relative_to(root.resolve()):
        raise InvalidInput(f"{path} leads out of {root} by a link; remove the link, or choose another folder")
    return path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, with the folders above it. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.part")
    fresh.unlink(missing_ok=True)
    try:
        with fresh.open("xb") as file:
            file.write(content)
        os.replace(fresh, path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def _check_name(name: str) -> None:
    plain = name.isprintable() and not SEPARATORS & set(name) and name.strip(". ") != ""
    if not plain or len(name.encode(errors="replace")) > LONGEST_NAME:
        raise InvalidInput(f"{name[:100]!r} cannot name a file here; do not trust an API that names one so")
