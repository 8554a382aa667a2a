"""The one table of units: their names, in what they are counted, and how a figure shows them."""

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit: `factor` of the base unit that has this name; `shown` is how a figure shows it, empty where figures have none."""

    name: str
    factor: float
    shown: str


def _read_rows() -> Iterator[tuple[list[str], Unit, list[str]]]:
    """Yield the aliases of each unit, the unit, and its names in figures alone."""
    table = tomllib.loads(files("app.domain").joinpath("units.toml").read_text(encoding="utf-8"))["table"]
    for line in table.strip().split("\n"):
        aliases, name, factor, names = (*line.split("|"), "")[:4]
        own, further = ([each.replace("_", " ") for each in words.split()] for words in (aliases, names))
        yield own, Unit(name, float(factor or 0), further[0] if further else ""), further


_ROWS = list(_read_rows())
UNITS = {alias: unit for aliases, unit, _ in _ROWS for alias in aliases}
"""Units by their aliases in small letters."""
SHOWN_UNITS = {name: unit.shown for aliases, unit, further in _ROWS if unit.shown for name in (*aliases, *further)}
"""How figures show the units that they have, by all of their names."""
