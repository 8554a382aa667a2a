"""The way out for calls to services that the operator names: the address of a path, the environment's proxy, certificates.

Pages and webhooks, whose addresses other people name, do not go this way: see `guard`.
"""

import os
import re
import ssl
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import parse_qs, urlsplit, urlunsplit
from urllib.request import getproxies

from app.domain.errors import SetupError

PATHS = ("chat/completions", "completions", "embeddings", "rerank", "models")
"""What an address may end in that names a call instead of a server."""
AUTHORITIES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


def address_of(base: str, path: str) -> str:
    """Return the address of a path of a server. A query, such as Azure's `api-version`, stays at its end."""
    parts = urlsplit(base)
    root = parts.path.rstrip("/")
    ending = next((f"/{known}" for known in PATHS if root.endswith(f"/{known}")), "")
    return urlunsplit(parts._replace(path=f"{root.removesuffix(ending)}/{path}", fragment=""))


def carry_key(url: str, key: str | None) -> dict[str, str]:
    """Return the header of a server's key: `api-key` where the address has Azure's `api-version`, else a bearer token."""
    if not key:
        return {}
    return {"api-key": key} if "api-version" in parse_qs(urlsplit(url).query) else {"Authorization": f"Bearer {key}"}


def is_on_this_machine(url: str) -> bool:
    """Whether an address is this machine's, by its form."""
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def find_proxy(url: str) -> str | None:
    """Return the proxy that the environment names for an address; None for none, and always for this machine's own addresses."""
    parts, named = urlsplit(url), getproxies()
    proxy, host = named.get(parts.scheme), parts.hostname or ""
    if not proxy or is_on_this_machine(url) or _is_exempt(host, parts.port, re.findall(r"[^\s,]+", named.get("no", ""))):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def hide_login(url: str) -> str:
    """Return an address without the user and the password in it."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def describe_way(url: str) -> str:
    """Return an address as messages show it, with the proxy that leads there."""
    proxy = find_proxy(url)
    return f"{hide_login(url)} through the proxy {hide_login(proxy)}" if proxy else hide_login(url)


def find_authorities() -> str | None:
    """Return the file of certificate authorities that the environment names instead of the system's."""
    return next((path for name in AUTHORITIES if (path := os.environ.get(name, "").strip())), None)


def make_tls() -> ssl.SSLContext:
    """Return the TLS of outgoing calls: the system's authorities, or those that the environment names.

    Raises:
        SetupError: the file that it names cannot be read.
    """
    try:
        return ssl.create_default_context(cafile=find_authorities())
    except (OSError, ssl.SSLError) as error:
        raise SetupError(f"{' or '.join(AUTHORITIES)} names certificates that cannot be read: {error}") from error


def _is_exempt(host: str, port: int | None, listed: list[str]) -> bool:
    """Say whether NO_PROXY names a host: by its name or the end of it (also `*.corp`), with its port, or by its network."""
    ends = [entry.lstrip("*.").lower() for entry in listed]
    if any(not end or f".{name}".endswith(f".{end}") for end in ends for name in (host, f"{host}:{port}")):
        return True
    with suppress(ValueError):
        address = ip_address(host)
        return any(address in network for network in _read_networks(listed))
    return False


def _read_networks(listed: list[str]) -> list[IPv4Network | IPv6Network]:
    networks = []
    for entry in listed:
        with suppress(ValueError):  # the other entries are names
            networks.append(ip_network(entry, strict=False))
    return networks
