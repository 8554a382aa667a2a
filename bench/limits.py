"""Reads the limits that the benchmarks' figures must reach, from bench/limits.toml."""

import operator
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

LIMIT = re.compile(r"(?P<sign>[≥≤<>=]) (?:(?P<factor>[\d.]+) × )?(?P<bound>\w[\w.]*)")
SIGNS = {"≥": operator.ge, "≤": operator.le, "<": operator.lt, ">": operator.gt, "=": operator.eq}


class Limits(BaseModel):
    """The limits of one bench's figures, and the code that it measures.

    `figures` maps each figure of the table to its limit: a sign and a number (`< 15`), or another figure of the same bench,
    with a factor where one is wanted (`≥ 1.25 × baseline_recall`). An empty limit means that the figure is only reported.
    `measures` are folders of the repository. `short` says in a sentence or two why figures miss their limits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    arguments: str = ""
    measures: tuple[str, ...]
    figures: dict[str, str]
    short: str = ""


def read_limits(file: Path) -> dict[str, Limits]:
    """Read the limits of each bench, by its name; unknown words in the file are refused."""
    return {bench: Limits.model_validate(entry) for bench, entry in tomllib.loads(file.read_text()).items()}


def meets_limit(limit: str, value: float, figures: Mapping[str, float]) -> bool:
    """Tell whether a figure keeps its limit; `figures` are those that the limit may name."""
    read = LIMIT.fullmatch(limit)
    if read is None:
        raise ValueError(f"not a limit: {limit!r}")
    bound = figures[read["bound"]] if read["bound"] in figures else float(read["bound"])
    met: bool = SIGNS[read["sign"]](value, bound * float(read["factor"] or 1))
    return met
