"""Answer at a Unix socket that this process lives, whoever else is connected to it: for the program that started it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

ALIVE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@asynccontextmanager
async def answer_health_checks(socket: Path | None) -> AsyncIterator[None]:
    """Answer health checks at this socket while the context lasts; without a socket, do nothing."""
    if socket is None:
        yield
        return
    async with await asyncio.start_unix_server(_answer, socket):
        yield


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readline()
    writer.write(ALIVE)
    writer.close()
