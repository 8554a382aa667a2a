"""Figures of any shape as tables of text: what a gate or a benchmark measured says itself how it is to be read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

DIGITS = 4
# What a gate holds against a model is in one of these fields.
ALARMS = ("reasons", "alarms")
# An estimate has one of these fields and its bounds, beside others that name it.
GAINS, LOW, HIGH = ("difference", "value"), "low", "high"


class FigureTable(NamedTuple):
    """A table of text. The title is empty for what stands at the top of the figures."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tabulate(figures: Mapping[str, Any], title: str = "") -> list[FigureTable]:
    """Return tables of figures: of plain values one, of each list of records one, of each record inside one."""
    plain = {name: value for name, value in figures.items() if not _is_nested(value)}
    tables = [FigureTable(title, ("", ""), tuple((name, format_value(value)) for name, value in plain.items()))] if plain else []
    for name, value in figures.items():
        inside = f"{title}: {name}" if title else name
        if isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values()):
            tables += [_make_table(inside, [{"": key, **each} for key, each in value.items()])] if value else []
        elif isinstance(value, Mapping):
            tables += tabulate(value, inside)
        elif _is_nested(value):
            tables.append(_make_table(inside, [each for each in value if isinstance(each, Mapping)]))
    return tables


def list_weaknesses(figures: Mapping[str, Any]) -> list[str]:
    """Return the alarms in figures, and each estimate below zero with its interval: a loss against what it was held against."""
    return [*_list_alarms(figures), *_list_losses(figures, "")]


def format_value(value: object) -> str:
    """Return a value as text: numbers with four significant digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {format_value(each)}" for name, each in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(format_value, value))
    return "" if value is None else str(value)


def _is_nested(value: object) -> bool:
    """Say whether a value is a table of its own. A list of plain values is one line."""
    if isinstance(value, Mapping):
        return True
    return isinstance(value, Sequence) and not isinstance(value, str) and any(isinstance(each, Mapping) for each in value)


def _make_table(title: str, records: Sequence[Mapping[str, Any]]) -> FigureTable:
    head = tuple(dict.fromkeys(name for record in records for name in record))
    return FigureTable(title, head, tuple(tuple(format_value(record.get(name)) for name in head) for record in records))


def _list_alarms(figures: Mapping[str, Any]) -> Iterator[str]:
    for name in ALARMS:
        for alarm in figures.get(name) or ():
            yield format_value(alarm)


def _list_losses(figures: Mapping[str, Any], name: str) -> Iterator[str]:
    value = next((figures[each] for each in GAINS if each in figures), None)
    if isinstance(value, int | float) and value < 0 and None not in (figures.get(LOW), figures.get(HIGH)):
        named = figures.get("metric") or figures.get("name") or name
        yield f"{named}: {format_value(value)} ({format_value(figures[LOW])} to {format_value(figures[HIGH])})"
    for key, inside in figures.items():
        records = inside if isinstance(inside, Sequence) and not isinstance(inside, str) else [inside]
        for record in records:
            if isinstance(record, Mapping):
                yield from _list_losses(record, key)
