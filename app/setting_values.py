"""The types of settings' values, with the reason why a value is refused."""

import re
from decimal import Decimal
from enum import StrEnum
from ipaddress import ip_network
from typing import Annotated
from urllib.parse import SplitResult, parse_qs, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
PREFIX = re.compile(r"(?:/[A-Za-z0-9_][A-Za-z0-9._-]*)*/?")


class MailSecurity(StrEnum):
    """The protection of the connection to the mail server: TLS from the start, TLS once connected, or none."""

    TLS = "tls"
    STARTTLS = "starttls"
    NONE = "none"


def _split_address(url: str) -> SplitResult:
    """Return the parts of an address. Reading `port` refuses one that is no number, without repeating the address."""
    parts = urlsplit(url)
    try:
        _ = parts.port
    except ValueError:
        raise ValueError("the port in the address is not a number from 0 to 65535") from None
    return parts


def _check_web_address(url: str) -> str:
    parts = _split_address(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("expected an address such as http://127.0.0.1:8080/v1")
    return url.rstrip("/")


def _check_proxy_address(url: SecretStr) -> SecretStr:
    parts = _split_address(url.get_secret_value())
    if parts.scheme != "http" or not parts.hostname or parts.path.strip("/") or parts.query:
        raise ValueError("expected an address such as http://proxy.example:3128")
    return url


def check_service_address(url: str) -> str:
    """Check a Unix socket's path or a web address."""
    return url if url.startswith("unix:/") else _check_web_address(url)


def _check_bucket_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "s3" or not BUCKET.fullmatch(parts.netloc) or not PREFIX.fullmatch(parts.path) or parts.query:
        raise ValueError("expected an address such as s3://bucket/prefix")
    return url.rstrip("/")


def _check_database_url(url: SecretStr) -> SecretStr:
    parts = _split_address(url.get_secret_value())
    host = parts.hostname or parse_qs(parts.query).get("host")  # a folder of Unix sockets can only stand in the query
    if parts.scheme not in ("postgresql", "postgres") or not host or not parts.path.strip("/"):
        raise ValueError("expected an address such as postgresql://user:password@host:5432/database")
    return url


def check_host_and_port(address: str) -> str:
    """Check a host with its port."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise ValueError("expected host:port, such as 127.0.0.1:7233")
    return address


def _check_email(address: str) -> str:
    name, _, host = address.partition("@")
    if not name or "." not in host or not address.isprintable() or " " in address:
        raise ValueError("expected an e-mail address such as research@example.org")
    return address


def _check_origins(given: tuple[str, ...]) -> tuple[str, ...]:
    for origin in given:
        parts = _split_address(origin)
        if parts.scheme not in ("http", "https") or not parts.netloc or origin != f"{parts.scheme}://{parts.netloc}".lower():
            raise ValueError(f"{origin!r} is no origin; expected such as https://app.example")
    return given


def _check_networks(given: tuple[str, ...]) -> tuple[str, ...]:
    for network in given:
        ip_network(network)
    return given


def write_value(value: object) -> str:
    """Return the text of a variable with this value, a secret in clear."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, tuple):
        return ",".join(value)
    return str(int(value)) if isinstance(value, bool) else str(value)


def _split_names(given: object) -> object:
    """Read `a, b` as ("a", "b")."""
    return tuple(name.strip() for name in given.split(",") if name.strip()) if isinstance(given, str) else given


Names = Annotated[tuple[str, ...], BeforeValidator(_split_names)]
Origins = Annotated[Names, AfterValidator(_check_origins)]
Networks = Annotated[Names, AfterValidator(_check_networks)]
EmailAddress = Annotated[str, AfterValidator(_check_email)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(_check_database_url)]
BucketAddress = Annotated[str, AfterValidator(_check_bucket_address)]
ProxyAddress = Annotated[SecretStr, AfterValidator(_check_proxy_address)]
WebAddress = Annotated[str, AfterValidator(_check_web_address)]
Limit = Annotated[int, Field(ge=1)] | None
Port = Annotated[int, Field(ge=1, le=65_535)]
UsdPerMillionTokens = Annotated[Decimal, Field(ge=0)]
