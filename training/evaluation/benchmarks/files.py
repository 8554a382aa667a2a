"""Readers of published files. Their errors name the file and what it lacks."""

import csv
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from app.domain.errors import InvalidInput
from training.evaluation.race_files import read_rows

T = TypeVar("T")


def find_file(folder: Path, *names: str) -> Path:
    """Return the first of these files that is in the folder, or the folder itself where it is a file.

    Raises:
        InvalidInput: none of them is there.
    """
    if folder.is_file():
        return folder
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is None:
        raise InvalidInput(f"{folder} has no {' or '.join(names)}; name the folder or file with the benchmark's data")
    return found


def read_json_lines(path: Path, read: Callable[[dict[str, Any]], T]) -> list[T]:
    """Read every row of a JSON Lines file.

    Raises:
        InvalidInput: a row lacks what `read` needs; the message names it.
    """
    return read_all(path, read_rows(path), read)


def read_all(path: Path, found: Iterable[dict[str, Any]], read: Callable[[dict[str, Any]], T]) -> list[T]:
    """Read every row. Raises as `each` does."""
    done: list[T] = []
    for number, row in enumerate(found, 1):
        try:
            done.append(read(row))
        except KeyError as error:
            raise InvalidInput(f"{path}, row {number}: the field {error} is missing") from error
        except (InvalidInput, ValueError, TypeError, ValidationError) as error:
            raise InvalidInput(f"{path}, row {number}: {error}") from error
    return done


@dataclass(frozen=True, slots=True)
class FinishedReport:
    """A report, and the known texts of the pages it cites, by address."""

    article: str
    pages: Mapping[str, str] = field(default_factory=dict)


def read_reports(path: Path) -> dict[str, FinishedReport]:
    """Read reports by item: rows of `{"id", "article"}`, perhaps with `"pages": {address: text}`. Raises as `each` does."""
    return dict(
        read_json_lines(path, lambda row: (str(row["id"]), FinishedReport(str(row["article"]), dict(row.get("pages") or {}))))
    )


def require_unique(path: Path, ids: Sequence[str]) -> None:
    """Raise InvalidInput where an id is given twice."""
    twice = sorted({item for item in ids if ids.count(item) > 1})
    if twice:
        raise InvalidInput(f"{path} has the id {twice[0]!r} twice")


def read_json_rows(path: Path) -> list[dict[str, Any]]:
    """Read the objects of a JSON file that is one list. Raises InvalidInput where it is not."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise InvalidInput(f"{path} is not a list of objects")
    return found


def read_csv_rows(path: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file by the names in its first line. Raises InvalidInput where it cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return [{name: value or "" for name, value in row.items() if name} for row in csv.DictReader(lines)]
    except (OSError, csv.Error, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as CSV: {error}") from error


def read_sheet_rows(path: Path) -> list[dict[str, str]]:
    """Read the rows of an Excel file's first sheet by the names in its first row. Raises InvalidInput where that fails."""
    from openpyxl import load_workbook

    try:
        rows = list(load_workbook(path, read_only=True).worksheets[0].iter_rows(values_only=True))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InvalidInput(f"{path} cannot be read as a workbook: {error}") from error
    names = [str(name or "") for name in rows[0]] if rows else []
    return [dict(zip(names, ("" if cell is None else str(cell) for cell in row), strict=False)) for row in rows[1:] if any(row)]
