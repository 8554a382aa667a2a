"""The base of every noun: frozen, strict about unknown fields. What is frozen and equal may be one object."""

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An immutable record; a field that is not declared is refused, so a typo cannot pass for data."""

    model_config = ConfigDict(frozen=True, extra="forbid")


V = TypeVar("V", bound=Value)


class OneOfEqual(Generic[V]):
    """Gives for a value an equal one that is in use already, where there is one: the parallel stages of a run read the same
    inputs, and an object a stage of each would be most of what a stage keeps in memory.

    `key` tells cheaply which values may be equal; of those with one key the latest is remembered, for as long as it is in use.
    """

    def __init__(self, key: Callable[[V], object]) -> None:
        self._key = key
        self._used: WeakValueDictionary[object, V] = WeakValueDictionary()

    def __call__(self, value: V) -> V:
        """The value, or its equal."""
        key = self._key(value)
        used = self._used.get(key)
        if used is not None and used == value:
            return used
        self._used[key] = value
        return value
