"""The types of a set's columns, for its card: `datasets` would read them from the first split alone, and fail on the next.

A list that is empty in all training rows has no type there. Dates would be read as times.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

Feature = Mapping[str, Any]
NULL: Feature = {"dtype": "null"}
WIDER = frozenset({"int64", "float64"})


class MixedColumn(Exception):
    """A column has values of types that cannot be one."""


def describe_columns(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Return the columns in the form of a card's `dataset_info.features`; None where one has no single type."""
    try:
        return list(_type_of_struct(rows))
    except MixedColumn:
        return None


def _type_of_struct(found: Iterable[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    values: dict[str, list[Any]] = {}
    for each in found:
        for name, value in each.items():
            values.setdefault(name, []).append(value)
    if not values:
        raise MixedColumn("an object without fields has no type")
    return [{"name": name, **_type_of_values(own)} for name, own in values.items()]


def _type_of_values(values: Sequence[Any]) -> Feature:
    """Return the type that fits all values of a column."""
    present = [value for value in values if value is not None]
    if not present:
        return NULL
    if all(isinstance(value, Mapping) for value in present):
        return {"struct": _type_of_struct(present)}
    if all(isinstance(value, list) for value in present):
        inner = _type_of_values([value for own in present for value in own])
        return {"list": inner.get("dtype") or inner.get("struct") or inner}
    return {"dtype": reduce(_widen, map(_type_of_scalar, present))}


def _type_of_scalar(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
        case _:
            raise MixedColumn(f"{type(value).__name__} beside other types")


def _widen(one: str, other: str) -> str:
    if one == other:
        return one
    if {one, other} == WIDER:
        return "float64"
    raise MixedColumn(f"{one} beside {other}")
