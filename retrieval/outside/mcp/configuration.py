"""The file that names MCP servers, in the form of other MCP clients: `mcpServers`, each with a command or an address."""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Self

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from app.domain.errors import SetupError
from app.settings import PREFIX

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a server: letters, digits, - and _, 32 at most")
    return name


class ServerConfiguration(BaseModel):
    """One server: `command` with `args` and `env`, or the `url` of a streamable HTTP endpoint with `headers`.

    A command is reached over its standard input and output. `tools` restricts the tools that are used; `read_only` names those
    that only read, although the server does not say so; `per_second` bounds the calls of all workers together.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default={}, repr=False)
    url: str | None = Field(default=None, pattern=r"^https?://")
    headers: dict[str, str] = Field(default={}, repr=False)
    tools: tuple[str, ...] | None = None
    read_only: tuple[str, ...] = ()
    per_second: float = Field(default=2, gt=0)

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("a server has either a command or a url")
        return self


class _ServersFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mcpServers: dict[Annotated[str, AfterValidator(_check_name)], ServerConfiguration]


def read_servers(path: Path) -> dict[str, ServerConfiguration]:
    """Read the servers that a JSON or TOML file names.

    Raises:
        SetupError: the file cannot be read, or has another form.
    """
    try:
        raw = path.expanduser().read_bytes()
        found = tomllib.loads(raw.decode()) if path.suffix == ".toml" else orjson.loads(raw)
        return _ServersFile.model_validate(found).mcpServers
    except ValidationError as error:
        first = error.errors()[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}"
    except (OSError, ValueError) as error:
        reason = str(error)
    raise SetupError(f"{PREFIX}MCP_SERVERS cannot be used: {path}: {reason}")
