"""A paper's table as data: what its rows and columns are, which runs fill them, and what the paper prints there.

Each table is a TOML file in `descriptions/`, named as `rubrica eval table` names it.
"""

import tomllib
from enum import StrEnum
from functools import cache
from importlib.resources import files

from pydantic import Field, model_validator

from app.domain.errors import InvalidInput
from app.domain.query import Language
from app.domain.value import Value

SUFFIX = ".toml"


class PlotKind(StrEnum):
    """What is drawn of a table: nothing, bars by column, lines over training steps, or accuracy against its cost."""

    NONE = ""
    BARS = "bars"
    STEPS = "steps"
    EFFICIENCY = "efficiency"


class PublishedFigures(Value):
    """What the paper prints in a row: one value a column, in its unit; NaN where it prints none. `of` names the model."""

    of: str = ""
    values: tuple[float, ...]


class PaperColumn(Value):
    """One metric. A run fills it when it is of one of the `benchmarks`, in one of the `variants` (none: any).

    Of a row's runs by several of the benchmarks, one of the first benchmark fills it. `unjudged`: no judge decides its value.
    `figures` are the benchmark's own or module metrics; of several their mean counts. `average` names columns whose mean this one
    is. A value is shown times `scale`, after it was taken from 1 where `complement` holds. `language` counts the items of one
    language. `call_limit` and `context_limit` are the limits under which it holds. `web`: a system needs a service outside.
    `stand_in` says what the benchmark stands for where the paper's own data are not public.
    """

    id: str
    name: str
    benchmarks: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    average: tuple[str, ...] = ()
    scale: float = 1.0
    digits: int = 1
    complement: bool = False
    language: Language | None = None
    call_limit: int = 0
    context_limit: int = 0
    web: bool = False
    unjudged: bool = False
    stand_in: str = ""
    note: str = ""


class PaperRow(Value):
    """One row. A run's label names it by `id`. A run of it is of one of the `systems` and `variants` (none: any)."""

    id: str
    name: str
    group: str = ""
    systems: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    published: tuple[PublishedFigures, ...] = ()


class LoggedCurve(Value):
    """One curve of a training run, and the names under which a recipe may log it, the likeliest first."""

    id: str
    name: str
    logged: tuple[str, ...]


class CurvePanel(Value):
    """One plot of curves over training steps."""

    name: str
    curves: tuple[LoggedCurve, ...]


class PaperTable(Value):
    """A table or figure of a paper.

    `differing` names what runs of one column may differ in, by the table's design (as `comparison.list_differences` words it).
    `baseline` is the row from which paired differences are taken.
    """

    title: str
    source: str
    about: str
    differing: tuple[str, ...] = ()
    baseline: str = ""
    plot: PlotKind = PlotKind.NONE
    columns: tuple[PaperColumn, ...] = ()
    rows: tuple[PaperRow, ...] = ()
    panels: tuple[CurvePanel, ...] = Field(default=())

    @model_validator(mode="after")
    def _require_whole_rows(self) -> "PaperTable":
        for row in self.rows:
            if any(len(published.values) != len(self.columns) for published in row.published):
                raise ValueError(f"the row {row.id} does not have one published value a column")
        known = {row.id for row in self.rows}
        if len(known) < len(self.rows) or (self.baseline and self.baseline not in known):
            raise ValueError("a row is described twice, or the baseline is no row")
        return self


@cache
def list_tables() -> tuple[str, ...]:
    """Return the names of all described tables."""
    folder = files("training.evaluation.paper_tables").joinpath("descriptions")
    return tuple(sorted(path.name.removesuffix(SUFFIX) for path in folder.iterdir() if path.name.endswith(SUFFIX)))


def load_table(name: str) -> PaperTable:
    """Load the table of this name.

    Raises:
        InvalidInput: there is none; the message lists the known names.
    """
    if name not in list_tables():
        raise InvalidInput(f"there is no table {name!r}; there are {', '.join(list_tables())}")
    path = files("training.evaluation.paper_tables").joinpath("descriptions", name + SUFFIX)
    return PaperTable.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
