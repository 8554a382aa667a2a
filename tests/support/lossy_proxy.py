"""A proxy to PostgreSQL that can cut a connection after a statement was carried out and before its answer arrives."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

PARSE, BIND, EXECUTE, READY = b"P", b"B", b"E", b"Z"
_ERROR = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0"
LAST_WORDS = b"E" + (len(_ERROR) + 4).to_bytes(4) + _ERROR


class LossyProxy:
    """A proxy between clients and the server; `losing` cuts connections. While it is `away` it takes no new ones."""

    def __init__(self, url: str) -> None:
        self._server = urlsplit(url)
        self._losing = b""
        self._clients: set[asyncio.StreamWriter] = set()
        self.away = False
        self.lost = 0

    @contextlib.asynccontextmanager
    async def serve_url(self) -> AsyncIterator[str]:
        """Serve the proxy; yield the address to connect to instead."""
        async with await asyncio.start_server(self._relay, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            netloc = f"{self._server.netloc.rpartition('@')[0]}@127.0.0.1:{port}"
            yield self._server._replace(netloc=netloc, query="sslmode=disable").geturl()

    @contextlib.contextmanager
    def lose_answers_to(self, named: str) -> Iterator[None]:
        """Cut the connection of each client that executes a statement with this text, after it was carried out."""
        before, self._losing = self.lost, named.encode()
        yield
        self._losing = b""
        assert self.lost > before, f"no {named} was executed"

    async def send_last_words(self) -> None:
        """Tell every client what a killed server says: nothing was asked, and the connection is about to end."""
        for client in self._clients:
            client.write(LAST_WORDS)
            await client.drain()

    def hang_up(self) -> None:
        """End every connection."""
        for client in self._clients:
            client.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.away:
            writer.close()
            return
        self._clients.add(writer)
        answers, asks = await asyncio.open_connection(self._server.hostname, self._server.port)
        lost = asyncio.Event()
        back = asyncio.create_task(self._relay_answers(answers, writer, lost))
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            size = await reader.readexactly(4)  # the first message has no type
            asks.write(size + await reader.readexactly(int.from_bytes(size) - 4))
            await self._relay_requests(reader, asks, lost)
        asks.close()
        await back

    async def _relay_requests(self, reader: asyncio.StreamReader, asks: asyncio.StreamWriter, lost: asyncio.Event) -> None:
        texts: dict[bytes, bytes] = {}
        bound = b""
        while True:
            head = await reader.readexactly(5)
            body = await reader.readexactly(int.from_bytes(head[1:]) - 4)
            if head[:1] == PARSE:
                name, text, _ = body.split(b"\0", 2)
                texts[name] = text
            elif head[:1] == BIND:
                bound = texts[body.split(b"\0", 2)[1]]
            elif head[:1] == EXECUTE and self._losing and self._losing in bound:
                lost.set()
            asks.write(head + body)

    async def _relay_answers(self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter, lost: asyncio.Event) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await answers.readexactly(5)
                body = await answers.readexactly(int.from_bytes(head[1:]) - 4)
                if not lost.is_set():
                    writer.write(head + body)
                elif head[:1] == READY:
                    self.lost += 1
                    break
        writer.close()
