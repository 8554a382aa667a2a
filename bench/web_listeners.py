"""Real listeners on addresses of this machine, which count connections; and a resolver that answers from a script."""

import asyncio
import gzip
import socket
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from ssl import SSLContext, SSLObject, SSLSocket
from typing import NamedTuple

from app.outgoing.addresses import IPAddress

ROBOTS = "/robots.txt"


class PageReply(NamedTuple):
    """A listener's answer to one path."""

    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()


class PageRequest(NamedTuple):
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]


NO_ROBOTS = PageReply(b"", "text/plain", 404)


@dataclass
class Listener:
    """An HTTP server on one address that answers by path and counts connections."""

    replies: dict[str, PageReply] = field(default_factory=dict)
    connections: int = 0
    asked: list[PageRequest] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    _server: asyncio.Server | None = None

    async def start(self, host: str, port: int, tls: SSLContext | None = None) -> int:
        """Listen; return the port. With `tls`, the server names that clients asked for are kept in `names`."""
        if tls is not None:
            tls.sni_callback = self._note_name
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._server = await asyncio.start_server(self._serve, host, port, family=family, ssl=tls)
        return int(self._server.sockets[0].getsockname()[1])

    def _note_name(self, _socket: SSLObject | SSLSocket, name: str, _context: SSLContext) -> None:
        self.names.append(name or "")

    async def stop(self) -> None:
        """Close the port."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = head[0].split(" ")[1]
            self.asked.append(PageRequest(path, dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)))
            default = NO_ROBOTS if path == ROBOTS else PageReply(b"<p>not here</p>", status=404)
            writer.write(_encode_reply(self.replies.get(path, default)))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, IndexError):
            pass  # a client that sends no whole request is only counted
        finally:
            writer.close()


def _encode_reply(reply: PageReply) -> bytes:
    named = {name.lower() for name, _ in reply.headers}
    headers = [("Content-Type", reply.content_type), *reply.headers, ("Connection", "close")]
    if not named & {"content-length", "transfer-encoding"}:
        headers.append(("Content-Length", str(len(reply.body))))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {reply.status} Said\r\n{lines}\r\n".encode("latin-1") + reply.body


class ScriptedNames:
    """A resolver: each look-up of a name gives the next of its answers, the last one for ever."""

    def __init__(self, answers: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self._answers = answers
        self.looked_up: Counter[str] = Counter()

    async def __call__(self, host: str) -> Sequence[IPAddress]:
        """Return the addresses of `host` now; raise `OSError` for an unknown name."""
        if host not in self._answers:
            raise OSError("no such name")
        rounds = self._answers[host]
        texts = rounds[min(self.looked_up[host], len(rounds) - 1)]
        self.looked_up[host] += 1
        return [ip_address(text) for text in texts]


def make_page(words: str, title: str = "A page") -> bytes:
    """Make a plain article around `words`."""
    return f"<html><head><title>{title}</title></head><body><article><p>{words}</p></article></body></html>".encode()


def compress_page(body: bytes, coding: str) -> PageReply:
    """Make a page in one of the codings of HTTP."""
    import brotli

    raw = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    made: dict[str, bytes] = {
        "gzip": gzip.compress(body),
        "deflate": zlib.compress(body),
        "raw deflate": raw.compress(body) + raw.flush(),
        "br": brotli.compress(body),
    }
    return PageReply(made[coding], headers=[("Content-Encoding", coding.removeprefix("raw "))])


def make_redirect(location: str, status: int = 302) -> PageReply:
    """Make a redirect."""
    return PageReply(b"", status=status, headers=[("Location", location)])


class ConnectionCounter:
    """Counts the connections this process begins, by address: an audit hook sees each before it is made."""

    def __init__(self) -> None:
        self.to: defaultdict[tuple[str, int], int] = defaultdict(int)

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        """Count one event of the audit hook."""
        if event == "socket.connect" and isinstance(arguments[1], tuple):
            self.to[(str(arguments[1][0]), int(arguments[1][1]))] += 1
