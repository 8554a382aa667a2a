"""The base of every noun: frozen, strict but with what was stored. What is frozen and equal may be one object."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, Self, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An immutable record; a field that is not declared is refused, so a typo cannot pass for data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def of_any_version(cls, kept: str | bytes | Mapping[str, Any]) -> Self:
        """The value that this program kept or sent as JSON (or as what JSON says), perhaps in a newer version.

        Fields that this version does not know are left out, at any depth. For what was stored, never for what comes from outside.

        Raises:
            ValidationError: it is no such value.
        """
        if isinstance(kept, (str, bytes)):
            return cls.model_validate_json(kept, extra="ignore")
        return cls.model_validate(kept, extra="ignore")


_GIVEN: dict[frozenset[str], set[str]] = {}


class Numerous(Value):
    """A value that waiting agents keep by the thousand: which of its fields were given is one set for all that are alike.

    Of a passage, such a set takes more than all else but its text. Nothing changes it, since what is frozen is changed in copies.
    """

    def model_post_init(self, context: Any, /) -> None:
        """Take the common set in place of one's own."""
        given = self.__pydantic_fields_set__
        object.__setattr__(self, "__pydantic_fields_set__", _GIVEN.setdefault(frozenset(given), given))


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
