"""Starts the product's own local stack and a model stub for a bench, and stops them with it."""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg

from app.settings import PREFIX, read_settings
from bench.client import open_client
from infra.local.home import Home
from infra.local.lock import StackState, read_state
from infra.local.ports import LOOPBACK
from infra.local.postgres import DATABASE, USER
from infra.local.stack import Stack
from retrieval.service.client import IndexClient
from rubrica_client import AsyncClient

ROOT = Path(__file__).resolve().parent.parent
POLL = timedelta(milliseconds=50)
RESTART_LIMIT = timedelta(seconds=120)
INDEX_LIMIT = timedelta(minutes=30)
INDEX_POLL = timedelta(seconds=1)


@dataclass(frozen=True)
class ModelStubProcess:
    """A model stub in its own process."""

    pid: int
    base_url: str
    bill: Path

    async def control(self, session: aiohttp.ClientSession, orders: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Give the stub orders, if any; return its counters."""
        async with session.post(self.base_url.removesuffix("/v1") + "/control", json=dict(orders or {})) as response:
            response.raise_for_status()
            found: dict[str, Any] = await response.json()
            return found


@contextlib.contextmanager
def start_model_stub(bill: Path, latency: timedelta, options: Sequence[str] = ()) -> Iterator[ModelStubProcess]:
    """Start a stub that answers after `latency`. `options` are further words of its command line."""
    command = [sys.executable, "-m", "tests.support.model_stub", "--bill", str(bill)]
    command += ["--latency-ms", str(latency / timedelta(milliseconds=1)), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield ModelStubProcess(process.pid, process.stdout.readline().strip(), bill)
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


@dataclass
class RunningStack:
    """A stack that accepts requests, with the connections that a bench needs."""

    home: Home
    client: AsyncClient
    session: aiohttp.ClientSession
    database: asyncpg.Pool
    said: list[str]

    @property
    def state(self) -> StackState:
        """The addresses and processes of this moment."""
        found = read_state(self.home.state)
        if found is None:
            raise RuntimeError(f"no stack is running on {self.home.root}")
        return found

    def read_pids(self) -> dict[str, int]:
        """Return the process id of each part, PostgreSQL too."""
        named = {name: pid for name, (pid, _) in self.state.processes.items()}
        return {**named, "PostgreSQL": int(_read_postmaster(self.home)[0])}

    async def wait_until_settled(self, earlier: Mapping[str, int]) -> None:
        """Wait until every part that has ended since `earlier` runs again."""
        async with asyncio.timeout(RESTART_LIMIT.total_seconds()):
            while not all(is_alive(self.read_pids().get(name, 0)) for name in earlier):
                await asyncio.sleep(POLL.total_seconds())


@contextlib.asynccontextmanager
async def start_stack(
    home: Path, stub: ModelStubProcess | None, more: Mapping[str, str] | None = None, indexed: bool = True
) -> AsyncIterator[RunningStack]:
    """Start the stack on `home`, answering with the stub's model (or with none), and stop it at the end.

    `indexed`: once the corpus has its vectors.
    """
    environment = {PREFIX + "HOME": str(home), **(more or {})}
    if stub is not None:
        environment |= {PREFIX + "LLM_BASE_URL": stub.base_url, PREFIX + "LLM_MODEL": "stub"}
    said: list[str] = []
    stack = Stack(read_settings(environment), False, said.append)
    try:
        api = await stack.start()
        await stack.complete()
        async with (
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
            asyncpg.create_pool(database_url_of(stack.home), min_size=1, max_size=2) as database,
            open_client(api, str(stack.home.ensure_api_key())) as client,
        ):
            running = RunningStack(stack.home, client, session, database, said)
            if indexed:
                await wait_for_index(running)
            yield running
    finally:
        stack.stop()


async def wait_for_index(stack: RunningStack) -> None:
    """Wait until nothing is being indexed: the dense vectors of a new home fill in for minutes, on all cores."""
    address = stack.state.retrieval
    if address is None:
        return
    async with asyncio.timeout(INDEX_LIMIT.total_seconds()), IndexClient(address) as index:
        while any(collection["building"] for collection in await index.list_collections()):
            await asyncio.sleep(INDEX_POLL.total_seconds())


def database_url_of(home: Home) -> str:
    """Return the address of the running local database, from the files its server keeps."""
    port = _read_postmaster(home)[3]
    password = (home.postgres / "password").read_text()
    return f"postgresql://{USER}:{password}@{LOOPBACK}:{port}/{DATABASE}"


def is_alive(pid: int) -> bool:
    """Tell whether a process of this number runs (one that ended and is not yet waited for does not)."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _read_postmaster(home: Home) -> list[str]:
    return (home.postgres / "data" / "postmaster.pid").read_text().splitlines()
