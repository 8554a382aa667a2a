"""A reward, or the reason why there is none."""

from collections.abc import Iterable
from typing import TypeAlias, TypeVar

from app.domain.missing import Missing

T = TypeVar("T")


Score: TypeAlias = float | Missing


def require_present(values: Iterable[T | Missing]) -> list[T] | Missing:
    """Return all values, or Missing with the reasons of those that are missing."""
    found: list[T] = []
    missing: list[str] = []
    for value in values:
        if isinstance(value, Missing):
            missing.append(value.reason)
        else:
            found.append(value)
    return Missing("; ".join(dict.fromkeys(missing))) if missing else found


def sum_weighted(parts: Iterable[tuple[float, Score]]) -> Score:
    """Return the sum of weight times value. A part of weight 0 may be missing."""
    needed = [(weight, value) for weight, value in parts if weight != 0]
    values = require_present(value for _, value in needed)
    if isinstance(values, Missing):
        return values
    return sum(weight * value for (weight, _), value in zip(needed, values, strict=True))
