"""Give Alembic its connection: that of `app.database.migrate` or, for Alembic's CLI, one to RUBRICA_DATABASE_OWNER_URL."""

import asyncio
import os
from collections.abc import Iterable
from typing import Any

from alembic import context
from alembic.operations.ops import MigrationScript
from sqlalchemy import Connection

from app.database.migrate import with_connection
from app.database.schema import SCHEMA_REVISION
from app.database.tables.metadata import METADATA
from app.domain.errors import SetupError


def run_migrations(connection: Connection) -> None:
    """Run the migrations that Alembic's command asked for."""
    context.configure(
        connection=connection,
        target_metadata=METADATA,
        compare_server_default=True,
        process_revision_directives=number_revision,
    )
    with context.begin_transaction():
        context.run_migrations()


def number_revision(_: Any, __: Any, made: Iterable[MigrationScript]) -> None:
    """Number a new migration. Revisions are compared, so each number is greater than the last."""
    for script in made:
        script.rev_id = f"{int(SCHEMA_REVISION) + 1:04}"


connection: Connection | None = context.config.attributes.get("connection")
if connection is not None:
    run_migrations(connection)
elif url := os.environ.get("RUBRICA_DATABASE_OWNER_URL"):
    asyncio.run(with_connection(url, run_migrations))
else:
    raise SetupError("name the database in RUBRICA_DATABASE_OWNER_URL, or use `rubrica migrate`")
