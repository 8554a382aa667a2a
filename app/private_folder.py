"""Make folders that only their owner may enter."""

from pathlib import Path

from app.domain.errors import SetupError


def make_private_folder(path: Path) -> None:
    """Make a folder and its parents, and close it to everybody else, also where it exists already.

    Raises:
        SetupError: it cannot be made, or belongs to somebody else.
    """
    advice = "set RUBRICA_HOME to a folder of your own"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"{path} cannot be made: {error.strerror}; {advice}") from error
    try:
        path.chmod(0o700)
    except OSError as error:
        raise SetupError(f"{path} cannot be closed to others: {error.strerror}; {advice}") from error
