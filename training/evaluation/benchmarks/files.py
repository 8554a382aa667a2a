"""Reading published files: rows by their fields, with an error that names the file and what it lacks."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from app.domain.errors import InvalidInput
from training.evaluation.race_files import rows

T = TypeVar("T")


def one_of(folder: Path, *names: str) -> Path:
    """The first of these files that is in the folder, or the folder itself where it is a file.

    Raises:
        InvalidInput: none is there.
    """
    if folder.is_file():
        return folder
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is None:
        raise InvalidInput(f"{folder} has no {' or '.join(names)}; name the folder or file with the benchmark's data")
    return found


def each(path: Path, read: Callable[[dict[str, Any]], T]) -> list[T]:
    """Every row of a JSON Lines file, read.

    Raises:
        InvalidInput: a row lacks what is needed; the message names it.
    """
    return read_all(path, rows(path), read)


def read_all(path: Path, found: Iterable[dict[str, Any]], read: Callable[[dict[str, Any]], T]) -> list[T]:
    """Every row, read. Raises as `each`."""
    done: list[T] = []
    for number, row in enumerate(found, 1):
        try:
            done.append(read(row))
        except KeyError as error:
            raise InvalidInput(f"{path}, row {number}: the field {error} is missing") from error
        except (ValueError, TypeError, ValidationError) as error:
            raise InvalidInput(f"{path}, row {number}: {error}") from error
    return done


def reports_of(path: Path) -> dict[str, str]:
    """Finished reports by item: rows of `{"id", "article"}`. Raises as `each`."""
    return dict(each(path, lambda row: (str(row["id"]), str(row["article"]))))


def unique(path: Path, ids: Sequence[str]) -> None:
    """Raises InvalidInput where an id is given twice."""
    twice = sorted({item for item in ids if ids.count(item) > 1})
    if twice:
        raise InvalidInput(f"{path} has the id {twice[0]!r} twice")
