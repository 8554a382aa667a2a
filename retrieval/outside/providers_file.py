"""The providers file: addresses and limits that replace our defaults, and the order of providers."""

import tomllib
from collections.abc import Mapping, Set
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.domain.errors import SetupError
from app.settings import PREFIX


class ProviderOptions(BaseModel):
    """The options of one provider in the providers file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str | None = None
    per_second: float | None = Field(default=None, gt=0)
    burst: int | None = Field(default=None, ge=1)
    at_once: int | None = Field(default=None, ge=1)


def read_options(path: Path | None, known: Set[str]) -> Mapping[str, ProviderOptions]:
    """Read the providers file, by provider. `known` are the names that it may use.

    Raises:
        SetupError: the file cannot be read, or names something unknown.
    """
    if path is None:
        return {}
    try:
        found = tomllib.loads(path.expanduser().read_text("utf-8"))
        options = TypeAdapter(dict[str, ProviderOptions]).validate_python(found)
    except (OSError, ValueError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise SetupError(f"{PREFIX}PROVIDERS_FILE cannot be used: {path}: {reason}") from error
    if unknown := options.keys() - known:
        names = ", ".join(sorted(known))
        raise SetupError(f"{PREFIX}PROVIDERS_FILE names {', '.join(sorted(unknown))}; the providers are {names}")
    return options
