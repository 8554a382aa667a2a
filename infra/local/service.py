"""A service of the product as a child process, with the check that says when it is ready."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from app.domain.errors import SetupError
from infra.local import gate
from infra.local.process import Process, Program

START_LIMIT = timedelta(seconds=90)
STOP_PATIENCE = timedelta(seconds=6)
ANSWER_LIMIT = timedelta(seconds=2)


@dataclass
class Service:
    """One of the product's own processes. `spawn()` lets it import at once; `start()` lets it run and waits for it."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    ready: Callable[["Service"], Awaitable[bool]]
    gated: bool = True
    process: Process | None = field(default=None, init=False)

    def spawn(self) -> None:
        """Start the process; a gated one waits before its `main()`."""
        self.process = Process(
            Program(
                self.name,
                self.command,
                self.log,
                self.environment,
                stop_signal=signal.SIGTERM,
                patience=STOP_PATIENCE,
                gated=self.gated,
            )
        )

    async def start(self) -> None:
        """Run, from a spawned process if there is one, and wait until ready.

        Raises:
            SetupError: with the service's last words.
        """
        if self.process is None or not self.process.alive:
            self.spawn()
        process = self.process
        assert process is not None
        process.send(gate.OPEN)
        await process.until(lambda: self.ready(self), START_LIMIT)

    def stop(self) -> None:
        """End it. Safe to repeat."""
        if self.process is not None:
            self.process.stop()


def python_module(module: str, *arguments: str) -> list[str]:
    """The command that runs a module's `main()` behind the gate, with this interpreter."""
    return [sys.executable, "-m", "infra.local.gate", module, *arguments]


def answers(address: str, path: str) -> Callable[[Service], Awaitable[bool]]:
    """Ready when `GET path` at `address` (`http://host:port` or `unix:/socket`) answers 200."""

    async def check(_: Service) -> bool:
        return await http_status(address, path) == 200

    return check


def says(word: str) -> Callable[[Service], Awaitable[bool]]:
    """Ready when the service has written a line with this word."""

    async def check(service: Service) -> bool:
        return service.process is not None and word in service.process.log_tail()

    return check


async def http_status(address: str, path: str) -> int | None:
    """The status a server answers with; None when it does not answer in HTTP within two seconds.

    A bare request on a socket: the supervisor needs no HTTP client, whose import would cost more than everything else it does.
    """
    try:
        async with asyncio.timeout(ANSWER_LIMIT.total_seconds()):
            reader, writer = await _connect(address)
            try:
                writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
                parts = (await reader.readline()).split()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return None
    return int(parts[1]) if len(parts) > 1 and parts[0].startswith(b"HTTP/") and parts[1].isdigit() else None


async def _connect(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if address.startswith("unix:"):
        return await asyncio.open_unix_connection(address.removeprefix("unix:"))
    parts = urlsplit(address)
    if parts.hostname is None:
        raise SetupError(f"{address} is not an address")
    return await asyncio.open_connection(parts.hostname, parts.port or 80)
