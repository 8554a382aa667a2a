"""How Alembic gets its connection: from `app.database.migrate`, or by RUBRICA_DATABASE_OWNER_URL from Alembic's own CLI."""

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


def run(connection: Connection) -> None:
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
    """Number a new migration: revisions are compared, so each is greater than the one before."""
    for script in made:
        script.rev_id = f"{int(SCHEMA_REVISION) + 1:04}"


given: Connection | None = context.config.attributes.get("connection")
if given is not None:
    run(given)
elif url := os.environ.get("RUBRICA_DATABASE_OWNER_URL"):
    asyncio.run(with_connection(url, run))
else:
    raise SetupError("name the database in RUBRICA_DATABASE_OWNER_URL, or use `rubrica migrate`")
