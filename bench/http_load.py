"""An HTTP client that costs its machine as little as possible: keep-alive connections, answers read to their end and dropped."""

import asyncio
import re
from urllib.parse import urlsplit

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
CLOSING = re.compile(rb"\r\nconnection: *close\r\n", re.IGNORECASE)


class _Connection(asyncio.Protocol):
    """A connection that carries one request at a time."""

    def __init__(self) -> None:
        self._answer: asyncio.Future[int] | None = None
        self._received = bytearray()
        self._whole = 0  # bytes of the answer, once its head is there
        self._transport: asyncio.BaseTransport | None = None
        self.usable = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    async def send(self, request: bytes) -> int:
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)  # type: ignore[attr-defined]
        return await self._answer

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._whole and (end := self._received.find(HEAD_END)) >= 0:
            head = self._received[: end + 2]
            length = LENGTH.search(head)
            self._whole = end + len(HEAD_END) + (int(length[1]) if length else 0)
            self.usable = length is not None and CLOSING.search(head) is None
        if self._whole and len(self._received) >= self._whole and self._answer is not None:
            answer, self._answer = self._answer, None
            status = int(self._received[9:12])
            self._received, self._whole = self._received[self._whole :], 0
            if not answer.done():
                answer.set_result(status)

    def connection_lost(self, exc: Exception | None) -> None:
        self.usable = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError("the server closed the connection"))


class LeanClient:
    """Opens as many connections as requests are under way, and uses each again. Answers must state their length."""

    def __init__(self, address: str, key: str) -> None:
        at = urlsplit(address)
        self._host, self._port = at.hostname or "127.0.0.1", at.port or 80
        self._told = f" HTTP/1.1\r\nHost: {self._host}\r\nAuthorization: Bearer {key}\r\n"
        self._idle: list[_Connection] = []

    async def fetch_status(self, method: str, path: str, body: bytes | None = None) -> int:
        """Return the status of the answer, when all of it has come.

        Raises:
            OSError: no connection, or one that ended.
        """
        request = f"{method} {path}{self._told}".encode()
        if body is not None:
            request += b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body)
        connection = await self._take_connection()
        status = await connection.send(request + b"\r\n" + (body or b""))
        if connection.usable:
            self._idle.append(connection)
        return status

    async def _take_connection(self) -> _Connection:
        while self._idle:
            if (connection := self._idle.pop()).usable:  # the server closes those that were not used for a while
                return connection
        _, connection = await asyncio.get_running_loop().create_connection(_Connection, self._host, self._port)
        return connection
