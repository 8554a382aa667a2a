"""How old an answer from outside may be where somebody wants to know what is true now."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta

_oldest: ContextVar[timedelta | None] = ContextVar("oldest", default=None)


@contextmanager
def no_older_than(age: timedelta) -> Iterator[None]:
    """Calls made in this context take nothing from the cache that is older, whatever their provider allows."""
    token = _oldest.set(age)
    try:
        yield
    finally:
        _oldest.reset(token)


def allowed_age(max_age: timedelta) -> timedelta:
    """The age that a provider allows, or what the context does if that is less. Zero stays zero: such answers are not kept."""
    oldest = _oldest.get()
    return max_age if oldest is None else min(max_age, oldest)
