"""Nouns as JSON Lines: appended whole, read back, and mended where a killed process left half a line."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from app.domain.value import Value

V = TypeVar("V", bound=Value)


def lines_of(path: Path, noun: type[V]) -> Iterator[V]:
    """Every whole line; none where there is no file."""
    if path.exists():
        with path.open("rb") as lines:
            yield from (noun.model_validate_json(line) for line in lines if line.endswith(b"\n"))


def append_line(path: Path, value: Value) -> None:
    """One line more."""
    with path.open("ab") as file:
        file.write(value.model_dump_json().encode() + b"\n")


def without_torn_line(path: Path) -> None:
    """Whoever was killed while writing left half a line: what follows must not be joined to it."""
    if not path.exists() or not (size := path.stat().st_size):
        return
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.seek(0)
            file.truncate(file.read(size).rfind(b"\n") + 1)
