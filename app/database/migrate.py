"""Bring a database's schema up to date. Safe when several processes start at once: one migrates, the others wait."""

from collections.abc import Awaitable, Callable
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg

from app.database.schema import SCHEMA_REVISION, require_schema, revision_of
from app.domain.errors import SetupError

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

T = TypeVar("T")
# Any number that no other user of advisory locks in this database takes.
MIGRATION_LOCK = 7_284_451_930


async def upgrade(database_url: str) -> None:
    """Upgrade to the revision this code works with; a newer one is left as it is. Costs one query when there is nothing to do.

    Raises:
        SetupError: the database was migrated by a newer version of Rubrica, and this one cannot work with it.
    """
    found = await current_revision(database_url)
    if found is None or found < SCHEMA_REVISION:
        await with_connection(database_url, lambda connection: _run(connection, "upgrade", SCHEMA_REVISION))
    elif found > SCHEMA_REVISION:
        await _connect(database_url, require_schema)


async def downgrade(database_url: str, revision: str = "base") -> None:
    """Take the schema back to an older revision. Data in dropped tables is lost."""
    await with_connection(database_url, lambda connection: _run(connection, "downgrade", revision))


async def current_revision(database_url: str) -> str | None:
    """Return the schema's revision; None for a database that was never migrated."""
    return await _connect(database_url, revision_of)


async def _connect(database_url: str, work: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
    connection = await asyncpg.connect(database_url)
    try:
        return await work(connection)
    finally:
        await connection.close()


async def with_connection(database_url: str, work: Callable[["Connection"], None]) -> None:
    """Do `work` on a SQLAlchemy connection, in one transaction and under the migration lock."""
    # SQLAlchemy and Alembic are loaded here only: the API and the worker never need them.
    from sqlalchemy import text
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    # asyncpg reads the address, as everywhere else: SQLAlchemy would not understand parameters such as `sslmode`.
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=partial(asyncpg.connect, database_url), poolclass=NullPool
    )
    async with engine.begin() as connection:
        await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        await connection.run_sync(work)
    await engine.dispose()


def config(connection: "Connection | None" = None) -> "Config":
    """Return Alembic's configuration, independent of the working directory."""
    from alembic.config import Config

    made = Config(attributes={"connection": connection})
    made.set_main_option("script_location", str(files("migrations")).replace("%", "%%"))
    return made


def _run(connection: "Connection", direction: str, revision: str) -> None:
    from alembic import command
    from alembic.util import CommandError

    steps: dict[str, Callable[[Any, str], None]] = {"upgrade": command.upgrade, "downgrade": command.downgrade}
    try:
        steps[direction](config(connection), revision)
    except CommandError as error:
        raise SetupError(f"the database's schema is not one this version knows ({error}); install the newer version") from error
