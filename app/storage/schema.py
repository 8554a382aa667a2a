"""The schema revision this code works with. A test keeps it equal to the newest migration."""

import asyncpg

from app.storage.engine import Executor

SCHEMA_REVISION = "0023"


async def revision_of(database: Executor) -> str | None:
    """The schema's revision; None for a database that was never migrated."""
    try:
        revision: str | None = await database.fetchval("SELECT version_num FROM alembic_version")
    except asyncpg.UndefinedTableError:
        return None
    return revision
