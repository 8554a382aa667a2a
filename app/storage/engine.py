"""Connections to PostgreSQL. A statement is one asyncpg prepared statement; whoever composes several opens the transaction."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from app.domain.errors import SetupError, Unavailable

CONNECT_LIMIT = timedelta(seconds=10)
COMMAND_LIMIT = timedelta(seconds=30)

# Repositories take either: the pool for one statement, a connection with a transaction open for several.
Executor = asyncpg.Pool | asyncpg.Connection | PoolConnectionProxy

# What asyncpg raises when the server is away, restarting, or out of connections: worth trying again.
OUTAGES = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
)


async def connect(database_url: str, largest: int = 10) -> asyncpg.Pool:
    """A pool of up to `largest` connections, opened as they are needed.

    Raises:
        SetupError: the address is wrong, refuses us, or does not speak PostgreSQL.
    """
    pool: asyncpg.Pool = asyncpg.create_pool(
        database_url,
        min_size=1,
        max_size=largest,
        timeout=CONNECT_LIMIT.total_seconds(),
        command_timeout=COMMAND_LIMIT.total_seconds(),
        reset=_keep,
        server_settings={"application_name": "rubrica", "plan_cache_mode": "force_generic_plan"},
    )
    try:
        return await pool
    except (*OUTAGES, asyncpg.PostgresError, ValueError) as error:
        raise SetupError(f"cannot use the database named by RUBRICA_DATABASE_URL: {error or type(error).__name__}") from error


@asynccontextmanager
async def translated() -> AsyncIterator[None]:
    """Turn asyncpg's outages into `Unavailable`.

    Raises:
        Unavailable: the database does not answer now.
    """
    try:
        yield
    except OUTAGES as error:
        raise Unavailable(f"the database does not answer: {error or type(error).__name__}") from error


async def _keep(connection: asyncpg.Connection) -> None:
    """Nothing to reset: no statement of ours leaves session state behind, and asyncpg's reset costs a round trip a use."""
