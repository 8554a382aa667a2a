"""Run a service of the product as a child process, and check when it is ready."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from app.domain.errors import SetupError
from infra.local import gate
from infra.local.ports import list_ports_of
from infra.local.process import Process, Program

START_LIMIT = timedelta(seconds=90)
STOP_PATIENCE = timedelta(seconds=6)
ANSWER_LIMIT = timedelta(seconds=2)
SILENCE_LIMIT = timedelta(seconds=10)


@dataclass(frozen=True)
class Endpoint:
    """The place of a service's health check: `GET path` at `address` (`http://host:port` or `unix:/socket`)."""

    address: str
    path: str = "/health"


@dataclass
class LocalService:
    """One of the product's own processes. `spawn()` lets it import at once; `start()` lets it run and waits for it.

    It is ready when it answers 200 itself at its endpoint or, without one, when it has written a line with `ready_words`.
    `folder` is a private folder that it needs, made before each start. Whether it still lives is asked at `pulse`, or else at
    its endpoint; an answer that takes longer than `silence` counts as none.
    """

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    endpoint: Endpoint | None = None
    pulse: Endpoint | None = None
    ready_words: str = ""
    folder: Path | None = None
    gated: bool = True
    silence: timedelta = SILENCE_LIMIT
    patience: timedelta = STOP_PATIENCE
    process: Process | None = field(default=None, init=False)

    def spawn(self) -> None:
        """Start the process; a gated one waits before its `main()`."""
        if self.folder is not None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        program = Program(self.name, self.command, self.log, self.environment, patience=self.patience, gated=self.gated)
        self.process = Process(program)

    async def start(self) -> None:
        """Run the service, from a spawned process if there is one, and wait until it is ready.

        Raises:
            SetupError: the service cannot start; the message has its last log lines.
        """
        if self.process is None or not self.process.alive:
            self.spawn()
        assert self.process is not None
        self.process.send_line(gate.OPEN)
        await self.process.wait_until_ready(self._is_ready, START_LIMIT)

    async def responds(self) -> bool:
        """Return whether it answers in HTTP where it is asked. A service without an endpoint responds as long as it runs."""
        asked = self.pulse or self.endpoint
        return asked is None or await get_http_status(asked.address, asked.path, self.silence) is not None

    def stop(self) -> None:
        """End the service. Safe to repeat."""
        if self.process is not None:
            self.process.stop()

    async def _is_ready(self) -> bool:
        if self.endpoint is not None:
            return await get_http_status(self.endpoint.address, self.endpoint.path) == 200 and self._listens_itself()
        return self.process is not None and self.ready_words in self.process.read_log_tail()

    def _listens_itself(self) -> bool:
        """Return whether it is this process that answers at its port: another program may have taken the port meanwhile."""
        assert self.endpoint is not None
        port = urlsplit(self.endpoint.address).port
        return port is None or (self.process is not None and port in list_ports_of(self.process.pid))


def gated_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module's `main()` behind the gate, with this interpreter."""
    return [sys.executable, "-m", "infra.local.gate", module, *arguments]


async def get_http_status(address: str, path: str, limit: timedelta = ANSWER_LIMIT) -> int | None:
    """Return the status that a server answers with, or None when it does not answer in HTTP within `limit`.

    It writes the request to a socket, since importing an HTTP client takes longer than all else that the supervisor does.
    """
    try:
        async with asyncio.timeout(limit.total_seconds()):
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
