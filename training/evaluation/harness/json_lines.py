"""Values in JSON Lines files: append them, read them, and repair a file after a kill in the middle of a line."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from app.domain.value import Value

V = TypeVar("V", bound=Value)


def read_lines(path: Path, noun: type[V]) -> Iterator[V]:
    """Read every whole line; none where there is no file."""
    if path.exists():
        with path.open("rb") as lines:
            yield from (noun.model_validate_json(line) for line in lines if line.endswith(b"\n"))


def append_line(path: Path, value: Value) -> None:
    """Append a value as one line."""
    with path.open("ab") as file:
        file.write(value.model_dump_json().encode() + b"\n")


def cut_torn_line(path: Path) -> None:
    """Cut off a half line that a killed process left, so that the next line is not joined to it."""
    if not path.exists() or not (size := path.stat().st_size):
        return
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.seek(0)
            file.truncate(file.read(size).rfind(b"\n") + 1)
