"""The schema revision this code works with, and whether a database's serves it. A test keeps it equal to the newest migration."""

import asyncpg

from app.database.engine import Executor
from app.domain.errors import SetupError

SCHEMA_REVISION = "0025"
# A migration that programs of an older revision cannot work with leaves the oldest that can in this comment.
FOUND = "SELECT version_num, obj_description('alembic_version'::regclass, 'pg_class') FROM alembic_version"


async def revision_of(database: Executor) -> str | None:
    """The schema's revision; None for a database that was never migrated."""
    found, _ = await _found(database)
    return found


async def require_schema(database: Executor, setting: str = "") -> None:
    """Return when this code can work with the schema: its own, or a newer one, as while versions are exchanged (ADR 0010).

    Raises:
        SetupError: it is older, or has left this version behind; what to do. `setting` is where the address comes from.
    """
    found, oldest = await _found(database)
    named = f"{setting}: the database" if setting else "the database"
    if found is None or found < SCHEMA_REVISION:
        state = f"is at {found}" if found else "has no tables of Rubrica"
        raise SetupError(f"{named} {state}, this version needs {SCHEMA_REVISION}; run `rubrica migrate`")
    if not serves(found, oldest):
        raise SetupError(
            f"{named} is at {found}, and no longer works with this version ({SCHEMA_REVISION}); install the newer one"
        )


def serves(found: str, oldest: str | None) -> bool:
    """Whether a schema at `found`, which works with programs since `oldest` (None: with all before it), works with this one."""
    return found == SCHEMA_REVISION or (found > SCHEMA_REVISION and (oldest or "") <= SCHEMA_REVISION)


async def _found(database: Executor) -> tuple[str | None, str | None]:
    try:
        row = await database.fetchrow(FOUND)
    except asyncpg.UndefinedTableError:
        return None, None
    return (row[0], row[1]) if row else (None, None)
