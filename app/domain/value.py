"""The base of every noun: frozen, strict about unknown fields."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An immutable record; a field that is not declared is refused, so a typo cannot pass for data."""

    model_config = ConfigDict(frozen=True, extra="forbid")
