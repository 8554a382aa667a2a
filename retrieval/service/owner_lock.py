"""The lock of a home's indexes. One process owns them, since the engine reads them in one process and builds run once."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

from app.domain.errors import SetupError
from app.private_folder import make_private_folder


def lock_home(home: Path) -> Callable[[], None]:
    """Become the owner of a home, and return a function that releases it. The process's end releases it too.

    Raises:
        SetupError: another process is the owner, or the home cannot be made for its owner alone.
    """
    make_private_folder(home)
    folder = home / "retrieval"
    folder.mkdir(exist_ok=True)
    handle = os.open(folder / "owner.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise SetupError(
            "another process has this home's indexes open; stop it, or set RUBRICA_HOME to another folder"
        ) from error
    return lambda: os.close(handle)
