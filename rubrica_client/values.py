"""The bases of all models of the client: immutable, strict in what they send, tolerant of what a newer API answers."""

import enum
from typing import Self

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """The base of all models. An unknown field is an error where a model is made, and is ignored in an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class StrEnum(enum.StrEnum):
    """The base of all enumerations. A value that a newer API has added becomes a member of its own."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_, word._value_ = value.upper(), value
        return word
