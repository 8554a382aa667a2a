"""Connect only to the address that was checked.

A name is looked up once per connection; all its addresses are checked, and one refused address refuses the name. The socket is
made only for an address that passes the same check once more, so that there is no other way to a connection.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import TypeAlias

from aiohttp import AddrInfoType, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from app.outgoing.addresses import IPAddress, IPNetwork, refusal_of
from app.outgoing.errors import AddressRefused, PageUnavailable
from app.outgoing.way_out import make_tls

LookUp: TypeAlias = Callable[[str], Awaitable[Sequence[IPAddress]]]
CONNECTIONS = 32


async def system_lookup(host: str) -> Sequence[IPAddress]:
    """Return what the system's resolver says. A final dot keeps it off the machine's search domains; `OSError` when it fails."""
    found = await asyncio.get_running_loop().getaddrinfo(f"{host}.", 0, type=socket.SOCK_STREAM)
    return [ip_address(str(info[4][0])) for info in found]


class GuardedResolver(AbstractResolver):
    """A resolver that looks names up by `lookup`, and passes only those whose every address may be connected to."""

    def __init__(self, lookup: LookUp, permitted: Sequence[IPNetwork]) -> None:
        self._lookup = lookup
        self._permitted = permitted

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        """Return the addresses of `host`.

        Raises:
            AddressRefused: one of them is not public.
            PageUnavailable: there is no address now.
        """
        try:
            addresses = list(dict.fromkeys(await self._lookup(host)))
        except (OSError, UnicodeError) as error:
            raise PageUnavailable("the host's address could not be looked up") from error
        if not addresses:
            raise PageUnavailable("the host has no address")
        for address in addresses:
            if reason := refusal_of(address, self._permitted):
                raise AddressRefused(f"refused: the host's address is {reason}")
        return [_resolve_result_of(host, port, address) for address in addresses]

    async def close(self) -> None:
        """Do nothing, since nothing is held."""


def _resolve_result_of(host: str, port: int, address: IPAddress) -> ResolveResult:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return {
        "hostname": host,
        "host": str(address),
        "port": port,
        "family": family,
        "proto": socket.IPPROTO_TCP,
        "flags": socket.AI_NUMERICHOST,
    }


def guarded_connector(
    lookup: LookUp, permitted: Sequence[IPNetwork], tls: ssl.SSLContext | None = None, each_host: int = 4
) -> TCPConnector:
    """Return a connector that reaches only public addresses. Every connection looks its host up anew.

    `each_host` is how many connections there may be to one host at a time; 0 sets no limit.
    """

    def guarded_socket(info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _, address = info
        if reason := refusal_of(ip_address(str(address[0])), permitted):
            raise AddressRefused(f"refused: the address is {reason}")
        return socket.socket(family, kind, protocol)

    return TCPConnector(
        resolver=GuardedResolver(lookup, permitted),
        use_dns_cache=False,
        socket_factory=guarded_socket,
        ssl=tls or True,
        limit=CONNECTIONS,
        limit_per_host=each_host,
        keepalive_timeout=5,
    )


def proxied_connector(tls: ssl.SSLContext | None = None) -> TCPConnector:
    """Return a connector for a session whose every request goes to the operator's proxy; `check_named` checks the addresses."""
    return TCPConnector(ssl=tls or make_tls(), limit=CONNECTIONS, keepalive_timeout=5)


async def check_named(url: URL, lookup: LookUp, permitted: Sequence[IPNetwork]) -> None:
    """Check the addresses of a host that a proxy will connect to. Where no name is known here, the proxy alone knows it.

    Raises:
        AddressRefused: one of them is not public.
    """
    with suppress(PageUnavailable):
        await GuardedResolver(lookup, permitted).resolve(url.raw_host or "")
