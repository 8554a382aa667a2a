"""A forward proxy on an address of this machine. It refuses, as an operator's must, what leads inside."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from app.outgoing.addresses import IPNetwork, refusal_of
from app.outgoing.guard import LookUp
from app.outgoing.targets import parse_literal

REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 14\r\nConnection: close\r\n\r\nproxy says no\n"


class ForwardProxy:
    """A proxy for http (whole addresses) and https (CONNECT). `asked` are its requests' targets, `refused` those refused."""

    def __init__(self, lookup: LookUp, permitted: Sequence[IPNetwork] = ()) -> None:
        self._lookup, self._permitted = lookup, permitted
        self.asked: list[str] = []
        self.refused: list[str] = []
        self.logins: list[str] = []
        self._server: asyncio.Server | None = None

    async def start(self, host: str) -> str:
        """Listen on a free port; return the proxy's address."""
        self._server = await asyncio.start_server(self._serve, host, 0)
        return f"http://{host}:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """Close the port."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, OSError):
            head = await reader.readuntil(b"\r\n\r\n")
            line, _, rest = head.partition(b"\r\n")
            method, target, _ = line.decode("latin-1").split(" ")
            self.asked.append(target)
            self.logins += [each.decode() for each in rest.split(b"\r\n") if each.lower().startswith(b"proxy-authorization")]
            tunnel = method == "CONNECT"
            parts = urlsplit(f"//{target}" if tunnel else target)
            address = await self._find_address(parts.hostname or "")
            if address is None:
                self.refused.append(target)
                writer.write(REFUSED)
                await writer.drain()
            else:
                path = f"{parts.path or '/'}?{parts.query}".removesuffix("?")
                sent = b"" if tunnel else f"{method} {path} HTTP/1.1\r\nConnection: close\r\n".encode() + rest
                await _join(reader, writer, (address, parts.port or 80), sent, tunnel)
        writer.close()

    async def _find_address(self, host: str) -> str | None:
        """Return the address of a host, None where it must not be connected to."""
        with suppress(OSError):
            literal = parse_literal(host)
            addresses = [literal] if literal else list(await self._lookup(host))
            if addresses and not any(refusal_of(address, self._permitted) for address in addresses):
                return str(addresses[0])
        return None


async def _join(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, place: tuple[str, int], sent: bytes, tunnel: bool
) -> None:
    """Join a client with a server until either ends."""
    answers, onward = await asyncio.open_connection(*place)
    onward.write(sent)
    if tunnel:
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    await asyncio.gather(_pump(reader, onward), _pump(answers, writer), return_exceptions=True)


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(1 << 16):
        sink.write(data)
        await sink.drain()
    sink.close()
