"""The SHA-256 of everything that a set is made from, so that it goes on only with what it was begun with."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from app.domain.errors import InvalidInput
from training.decontamination.public_sets import list_public_files
from training.evaluation.harness.manifest import digest_files
from training.folders import LOCK
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.folder import WORK

FILES_OF_OPTIONS = ("mined", "hard", "links")
MADE_AGAIN = (".html", ".sqlite", ".sqlite-wal", ".sqlite-shm", ".part")
"""Files in folders of runs and sets that no set is made of, and that change when a run is looked at again."""


def digest_inputs(request: SetRequest, against: Sequence[str]) -> dict[str, str]:
    """Return the SHA-256 of each input, of each file that an option names, and of each public set, by what it is.

    Raises:
        InvalidInput: one cannot be read.
    """
    given: dict[str, Sequence[Path]] = {f"input {path}": [path] for path in request.inputs}
    options = {f"option {name}": request.options.get(name, "").split(",") for name in FILES_OF_OPTIONS}
    given |= {name: [Path(path) for path in paths if path] for name, paths in options.items() if any(paths)}
    given |= {f"public set {name}": files for name, files in list_public_files(against).items()}
    return {name: _digest_paths(paths) for name, paths in given.items()}


def _digest_paths(paths: Sequence[Path]) -> str:
    """Return one digest of files, and of all files in folders."""
    digest = hashlib.sha256()
    for path in paths:
        if not path.exists():
            raise InvalidInput(f"there is no {path}")
        for file in _list_files(path):
            digest.update(f"{file.relative_to(path)} {next(iter(digest_files([file]).values()))}\n".encode())
    return digest.hexdigest()


def _list_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.is_file() and file.suffix not in MADE_AGAIN)
    return [file for file in found if file.relative_to(path).parts[0] not in (WORK, LOCK)]
