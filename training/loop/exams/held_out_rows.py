"""The held-out rows of an exam's sets."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from app.domain.split import Split
from training.loop.exams.config import OWN_SET
from training.recipes.training_data import read_rows

R = TypeVar("R", bound=BaseModel)


def locate_sets(names: Sequence[str], own: Path) -> list[Path]:
    """Return the folders that an exam names; `@set` is the set of its stage."""
    return [own if name == OWN_SET else Path(name) for name in names]


def name_row(folder: Path, own: Path, row: str) -> str:
    """Return the id of a set's row in an exam: its own in the stage's set, with the folder of any other set before it.

    Every set numbers its candidates in the same way, so that ids of two sets say nothing of each other.
    """
    return row if folder == own else f"{folder}/{row}"


def read_held_out(paths: Sequence[Path], forms: Mapping[str, type[R]], splits: Sequence[Split]) -> Iterator[tuple[Path, R]]:
    """Yield the rows of these splits, each with the folder of its set.

    Raises:
        NotFound: a folder holds no finished set.
        InvalidInput: a set is of another kind, has changed, or has a row of another form.
    """
    for path in paths:
        for split in splits:
            yield from ((path, row) for row in read_rows([path], forms, split))
