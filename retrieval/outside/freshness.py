"""The greatest age of stored answers from outside, for questions about the present."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta

_oldest: ContextVar[timedelta | None] = ContextVar("oldest", default=None)


@contextmanager
def limit_age(age: timedelta) -> Iterator[None]:
    """Limit the age of cached answers for calls in this context, also where their provider allows older ones."""
    token = _oldest.set(age)
    try:
        yield
    finally:
        _oldest.reset(token)


def allowed_age_of(max_age: timedelta) -> timedelta:
    """Return the lesser of a provider's and the context's greatest age. Zero stays zero: such answers are not stored."""
    oldest = _oldest.get()
    return max_age if oldest is None else min(max_age, oldest)
