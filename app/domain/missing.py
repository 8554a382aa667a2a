"""A value that could not be had: a judging call failed, or a formula is undefined here. Never counted as a zero."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no value."""

    reason: str
