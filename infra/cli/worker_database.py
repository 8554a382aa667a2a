"""Open the database of the deployment, or of this machine's stack, as the role that sees all organisations."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from app.database.engine import connect
from app.database.migrate import upgrade
from app.database.role_names import WORKER_ROLE
from app.database.schema import require_schema
from app.domain.errors import SetupError
from app.settings import PREFIX, Settings
from infra.local.home import Home
from infra.local.lock import FileLock
from infra.local.postgres import DATABASE, LocalPostgres, read_running_url

SETTING = PREFIX + "WORKER_DATABASE_URL"


@asynccontextmanager
async def open_worker_pool(settings: Settings, home: Home) -> AsyncIterator[asyncpg.Pool]:
    """Open a pool of connections, closed at the end.

    Raises:
        SetupError: the database cannot be used, or needs a migration.
    """
    async with _open_database(settings, home) as url:
        pool = await connect(url, largest=2, setting=SETTING)
        try:
            await require_schema(pool)
            yield pool
        finally:
            await pool.close()


@asynccontextmanager
async def _open_database(settings: Settings, home: Home) -> AsyncIterator[str]:
    """Yield the database's address for the worker's role. A local server that does not run is started meanwhile."""
    if settings.worker_database_url is not None:
        yield settings.worker_database_url.get_secret_value()
        return
    if settings.database_url is not None:
        raise SetupError(f"set {SETTING}: the role of {PREFIX}DATABASE_URL sees one organisation at a time")
    home.prepare()
    lock = FileLock(home.lock)
    if not lock.acquire():
        yield read_running_url(home.postgres, DATABASE, WORKER_ROLE)
        return
    server = LocalPostgres(home.postgres, home.log_of("postgres"))
    try:
        await server.start()
        await upgrade(server.url_of())
        yield server.url_of(role=WORKER_ROLE)
    finally:
        await asyncio.to_thread(server.stop)
        lock.release()
