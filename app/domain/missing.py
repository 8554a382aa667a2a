"""A missing value: a judging call failed, or a formula is undefined. It never counts as zero."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Missing:
    """The reason why there is no value."""

    reason: str
