"""The schema revision that this code works with, and the check of a database. A test keeps it equal to the newest migration."""

import asyncpg

from app.database.engine import Executor
from app.domain.errors import SetupError

SCHEMA_REVISION = "0006"
# The comment names the oldest revision whose programs can work with the schema. A migration that leaves some behind rewrites it.
FOUND = r"""
    SELECT version_num,
        substring(obj_description('alembic_version'::regclass, 'pg_class') FROM '^for programs from revision (\d+) on$')
    FROM alembic_version"""


async def revision_of(database: Executor) -> str | None:
    """Return the schema's revision; None for a database that was never migrated.

    Raises:
        SetupError: it was made by a version before the first release.
    """
    found, _ = await _read_state(database, "the database")
    return found


async def require_schema(database: Executor, setting: str = "") -> None:
    """Return when this code can work with the schema: its own, or a newer one, as while versions are exchanged (ADR 0010).

    Raises:
        SetupError: it is older, or has left this version behind; what to do. `setting` is where the address comes from.
    """
    named = f"{setting}: the database" if setting else "the database"
    found, oldest = await _read_state(database, named)
    if found is None or found < SCHEMA_REVISION:
        state = f"is at {found}" if found else "has no tables of Rubrica"
        raise SetupError(f"{named} {state}, this version needs {SCHEMA_REVISION}; run `rubrica migrate`")
    if oldest > SCHEMA_REVISION:
        raise SetupError(
            f"{named} is at {found}, and no longer works with this version ({SCHEMA_REVISION}); install the newer one"
        )


async def _read_state(database: Executor, named: str) -> tuple[str | None, str]:
    """Return the schema's revision and the oldest whose programs can work with it; the second is missing before the release."""
    try:
        row = await database.fetchrow(FOUND)
    except asyncpg.UndefinedTableError:
        return None, ""
    if row is None:
        return None, ""
    if row[1] is None:
        raise SetupError(
            f"{named} was made by a version before the first release, and its tables cannot be brought up to date; "
            "name a new, empty database, or start in a new home (RUBRICA_HOME)"
        )
    return row[0], row[1]
