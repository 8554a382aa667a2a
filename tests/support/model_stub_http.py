"""The least HTTP/1.1 server a model stub needs: an asyncio protocol without tasks, so that 400 calls in flight cost little."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

MAX_REQUEST_BYTES = 32 * 1024 * 1024
REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Internal Server Error",
}


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One whole request. Header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Exchange(Protocol):
    """The owner of a request, which hears of its connection."""

    def on_lost(self) -> None:
        """Note that the peer went away before the exchange was closed."""
        ...

    def on_flushed(self) -> None:
        """Note that everything sent so far has left this process."""
        ...


class Connection(asyncio.Protocol):
    """A connection on which a request is read, handed over and answered before the next is read."""

    def __init__(self, accept: Callable[["Connection", HttpRequest], Exchange | None], peers: set["Connection"]) -> None:
        self._accept = accept
        self._peers = peers
        self._buffer = bytearray()
        self._exchange: Exchange | None = None
        self._busy = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=0)
        self._peers.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._peers.discard(self)
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.on_lost()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._take_next()

    def resume_writing(self) -> None:
        if self._exchange is not None:
            self._exchange.on_flushed()

    def send(self, data: bytes) -> bool:
        """Write; True when all of it left at once, else `Exchange.flushed` will tell."""
        if self._transport is None or self._transport.is_closing():
            return False
        self._transport.write(data)
        return self._transport.get_write_buffer_size() == 0

    def finish(self) -> None:
        """End the exchange; the connection takes its next request."""
        self._exchange, self._busy = None, False
        self._take_next()

    def abort(self) -> None:
        """Reset the connection without a goodbye."""
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """Close after what was sent has left."""
        if self._transport is not None:
            self._transport.close()

    def _take_next(self) -> None:
        if self._busy:
            return
        request = take_request(self._buffer)
        if request is None:
            if len(self._buffer) > MAX_REQUEST_BYTES:
                self.abort()
            return
        self._busy = True
        self._exchange = self._accept(self, request)
        if self._exchange is None:
            self.finish()


def take_request(buffer: bytearray) -> HttpRequest | None:
    """Remove the first whole request from the buffer; None while it is incomplete."""
    head_end = buffer.find(b"\r\n\r\n")
    if head_end < 0:
        return None
    lines = buffer[:head_end].decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    found = take_body(buffer, head_end + 4, headers)
    if found is None:
        return None
    body, end = found
    del buffer[:end]
    method, path, *_ = [*lines[0].split(" "), "/"]
    return HttpRequest(method=method, path=path, headers=headers, body=body)


def take_body(buffer: bytearray, start: int, headers: dict[str, str]) -> tuple[bytes, int] | None:
    """Return the body that starts at `start` and the position after it; None while it is incomplete."""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return take_chunks(buffer, start)
    end = start + int(headers.get("content-length", "0"))
    return (bytes(buffer[start:end]), end) if len(buffer) >= end else None


def take_chunks(buffer: bytearray, start: int) -> tuple[bytes, int] | None:
    """Return a chunked body (without trailers) and the position after it; None while it is incomplete."""
    body = bytearray()
    position = start
    while (line_end := buffer.find(b"\r\n", position)) >= 0:
        size = int(bytes(buffer[position:line_end]).split(b";")[0], 16)
        position = line_end + 2 + size + 2
        if len(buffer) < position:
            return None
        if size == 0:
            return bytes(body), position
        body += buffer[line_end + 2 : line_end + 2 + size]
    return None


def encode_response(status: int, body: bytes, content_type: str = "application/json", extra: str = "") -> bytes:
    """Make a whole response with a length. `extra` is further header lines, each ending in CRLF."""
    first = f"HTTP/1.1 {status} {REASONS.get(status, 'Unknown')}\r\n"
    return f"{first}Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{extra}\r\n".encode() + body


def encode_stream_head() -> bytes:
    """Make the head of a server-sent stream in chunks."""
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"


def encode_chunk(data: bytes) -> bytes:
    """Make one chunk; empty data is the last one."""
    return b"%x\r\n%b\r\n" % (len(data), data)
