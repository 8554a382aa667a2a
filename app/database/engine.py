"""Connections to PostgreSQL. A statement is one asyncpg prepared statement; the caller of several opens the transaction."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any, Protocol

import asyncpg
from asyncpg import Record

from app.domain.errors import SetupError, Unavailable

CONNECT_LIMIT = timedelta(seconds=10)
COMMAND_LIMIT = timedelta(seconds=30)


class Executor(Protocol):
    """What repositories take: a pool for one statement, a connection with a transaction open for several, a `TenantDatabase`."""

    async def fetch(self, query: str, *args: Any) -> list[Record]:
        """Return all rows."""
        ...

    async def fetchrow(self, query: str, *args: Any) -> Record | None:
        """Return the first row, or None."""
        ...

    async def fetchval(self, query: str, *args: Any) -> Any:
        """Return the first row's first value, or None."""
        ...

    async def execute(self, query: str, *args: Any) -> str:
        """Run a statement, and return what was done in PostgreSQL's words."""
        ...


# What asyncpg raises when the server is away or restarting (its last word on an idle connection leaves that out of step, which is
# an internal error for whoever uses it next), lacks connections, memory or disk, gave up one of two transactions
# that waited for each other, or only reads because another server takes over: the same statement may succeed later.
OUTAGES = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.TransactionRollbackError,
    asyncpg.ReadOnlySQLTransactionError,
)


class Database(Executor, Protocol):
    """A pool, or a `TenantDatabase`: it also lends a connection, for several statements in one transaction."""

    def acquire(self) -> AbstractAsyncContextManager[Executor]:
        """Lend a connection; a `TenantDatabase` opens the transaction itself."""
        ...


async def connect(database_url: str, largest: int = 10, setting: str = "RUBRICA_DATABASE_URL") -> asyncpg.Pool:
    """Open a pool of up to `largest` connections, opened as they are needed. `setting` is where the address comes from.

    Raises:
        SetupError: the address is wrong, refuses us, or does not speak PostgreSQL.
    """
    pool: asyncpg.Pool = asyncpg.create_pool(
        database_url,
        init_size=1,
        min_size=0,  # asyncpg would log a traceback for each attempt to keep one open while the server is away
        max_size=largest,
        timeout=CONNECT_LIMIT.total_seconds(),
        command_timeout=COMMAND_LIMIT.total_seconds(),
        reset=_skip_reset,
        server_settings={"application_name": "rubrica", "plan_cache_mode": "force_generic_plan"},
    )
    try:
        return await pool
    except (*OUTAGES, asyncpg.PostgresError, ValueError) as error:
        raise SetupError(f"cannot use the database named by {setting}: {_describe_error(error)}") from error


@asynccontextmanager
async def translate_outages() -> AsyncIterator[None]:
    """Turn asyncpg's outages into `Unavailable`.

    Raises:
        Unavailable: the database does not answer now.
    """
    try:
        yield
    except OUTAGES as error:
        raise Unavailable(f"the database cannot do this now: {_describe_error(error)}") from error


@contextmanager
def forbid_repetition(done: str) -> Iterator[None]:
    """Let no outage say that a request may be repeated that has made or paid for something already. `done` says what.

    Raises:
        RuntimeError: the database does not answer now; the same request would make it, and pay for it, again.
    """
    try:
        yield
    except Unavailable as error:
        raise RuntimeError(f"{done}, but the answer cannot be given: {error}") from error


def _describe_error(error: BaseException) -> str:
    """Return the error on one line; its class where it has no words."""
    return " ".join(str(error).split()) or type(error).__name__


async def _skip_reset(connection: asyncpg.Connection) -> None:
    """Leave a connection as it is: no statement of ours leaves session state, and asyncpg's own reset costs a round trip a use.

    A transaction is left open only by a use that failed or was cancelled.
    """
    if connection.is_in_transaction():
        await connection.execute("ROLLBACK")
