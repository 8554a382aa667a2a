"""Bisection: where a condition that holds on one side of a point begins to fail."""

from collections.abc import Callable

HALVINGS = 60


def find_edge(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return the point between `inside`, where the condition holds, and `outside`, where it fails, at which it changes.

    The answer errs to the outside. Where the condition holds at `outside` too, the answer is `outside`.
    """
    if holds(outside):
        return outside
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return outside
