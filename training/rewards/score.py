"""A reward, or the reason why there is none."""

from collections.abc import Iterable
from math import isfinite
from typing import TypeAlias, TypeVar

from app.domain.missing import Missing

T = TypeVar("T")


Score: TypeAlias = float | Missing


def require_present(values: Iterable[T | Missing]) -> list[T] | Missing:
    """Return all values, or Missing with the reasons of those that are missing. NaN and infinity are no values."""
    found: list[T] = []
    missing: list[str] = []
    for value in values:
        if isinstance(value, Missing):
            missing.append(value.reason)
        elif isinstance(value, float) and not isfinite(value):
            missing.append(f"{value} is no value")
        else:
            found.append(value)
    return Missing("; ".join(dict.fromkeys(missing))) if missing else found


def sum_weighted(parts: Iterable[tuple[float, Score]]) -> Score:
    """Return the sum of weight times value. A part of weight 0 may be missing.

    Raises:
        ValueError: a weight is NaN or infinite.
    """
    parts = list(parts)
    if not all(isfinite(weight) for weight, _ in parts):
        raise ValueError(f"weights must be finite: {[weight for weight, _ in parts]}")
    needed = [(weight, value) for weight, value in parts if weight != 0]
    values = require_present(value for _, value in needed)
    if isinstance(values, Missing):
        return values
    return sum(weight * value for (weight, _), value in zip(needed, values, strict=True))
