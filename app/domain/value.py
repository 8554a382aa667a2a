"""The base of every noun: frozen, and strict but with what was stored."""

from collections.abc import Mapping
from typing import Any, Self

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
