"""The file that names MCP servers, in the form of other MCP clients: `mcpServers`, each with a command or an address."""

import logging
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from app.domain.errors import SetupError
from app.settings import PREFIX

log = logging.getLogger(__name__)
SSE = "sse"
SPOKEN = frozenset({"stdio", SSE, "http", "streamable-http", "streamable_http", "streamablehttp"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a server: letters, digits, - and _, 32 at most")
    return name


def _write_variables(given: Any) -> Any:
    """Write values as the environment has them: files say `true` and `8080` where a text is meant."""
    if not isinstance(given, dict):
        return given
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items() if value is not None}


Variables = Annotated[dict[str, str], BeforeValidator(_write_variables)]


class SignIn(BaseModel):
    """What an authorisation server knows us by, where it does not take a client that names itself.

    `issuer` is that server's own address. With it, a secret goes there and nowhere else, and it may be a private address.
    With `client_credentials` no person signs in.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)

    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    client_id: str | None = Field(default=None, validation_alias=AliasChoices("client_id", "clientId"))
    client_secret: SecretStr | None = Field(default=None, validation_alias=AliasChoices("client_secret", "clientSecret"))
    issuer: str | None = Field(default=None, pattern=r"^https?://")

    @property
    def without_person(self) -> bool:
        """Whether the client signs in by itself."""
        return self.grant == "client_credentials"

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.without_person and self.client_secret is None:
            raise ValueError("client_credentials needs a client_id, a client_secret and an issuer")
        if self.client_secret is not None and not (self.client_id and self.issuer):
            raise ValueError("a client_secret needs its client_id, and the issuer that it may be shown to")
        return self


class ServerConfiguration(BaseModel):
    """One server: `command` with `args`, `env` and `cwd`, or the `url` of an endpoint with `headers`.

    An endpoint speaks streamable HTTP, or SSE where `type` says so. A command is reached over its standard input and output.
    `tools` restricts the tools that are used; `read_only` names those that only read, although the server does not say so;
    `per_second` bounds the calls of all workers together.
    `oauth` is what an authorisation server knows us by. What other clients write besides has no effect, as the log says.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True, populate_by_name=True)

    type: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Variables = Field(default={}, repr=False)
    cwd: Path | None = None
    url: str | None = Field(default=None, pattern=r"^https?://", validation_alias=AliasChoices("url", "serverUrl", "httpUrl"))
    headers: Variables = Field(default={}, repr=False)
    oauth: SignIn = SignIn()
    tools: tuple[str, ...] | None = None
    read_only: tuple[str, ...] = ()
    per_second: float = Field(default=2, gt=0)

    @field_validator("type")
    @classmethod
    def _is_spoken(cls, kind: str | None) -> str | None:
        if kind is not None and kind.lower() not in SPOKEN:
            raise ValueError(f"{kind!r} is not spoken here: stdio, http and sse are")
        return kind and kind.lower()

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("a server has either a command or a url")
        return self


class _ServersFile(BaseModel):
    mcpServers: dict[Annotated[str, AfterValidator(_check_name)], ServerConfiguration]


def _tidy(found: Any) -> Any:
    """Return what a file says without the servers that it switches off, and without nulls; name what has no effect."""
    servers = found.get("mcpServers") if isinstance(found, dict) else None
    if not isinstance(servers, dict):
        return found
    used = {name: given for name, given in servers.items() if not (isinstance(given, dict) and _is_off(given))}
    for name, given in used.items():
        if isinstance(given, dict):
            used[name] = {field: value for field, value in given.items() if value is not None}
            if unknown := sorted(used[name].keys() - KNOWN):
                log.warning("of the MCP server %s these fields have no effect: %s", name, ", ".join(unknown))
    return {"mcpServers": used}


def _is_off(given: dict[str, Any]) -> bool:
    return given.get("disabled") is True or given.get("enabled") is False


KNOWN = ServerConfiguration.model_fields.keys() | {"disabled", "enabled", "serverUrl", "httpUrl"}
"""The fields that are read."""


def read_servers(path: Path) -> dict[str, ServerConfiguration]:
    """Read the servers that a JSON or TOML file names.

    Raises:
        SetupError: the file cannot be read, or has another form.
    """
    try:
        raw = path.expanduser().read_bytes()
        found = tomllib.loads(raw.decode()) if path.suffix == ".toml" else orjson.loads(raw)
        return _ServersFile.model_validate(_tidy(found)).mcpServers
    except ValidationError as error:
        first = error.errors()[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}"
    except (OSError, ValueError) as error:
        reason = str(error)
    raise SetupError(f"{PREFIX}MCP_SERVERS cannot be used: {path}: {reason}")
