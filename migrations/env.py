"""How Alembic gets its connection: from `app.storage.migrate`, or by RUBRICA_DATABASE_OWNER_URL from Alembic's own CLI."""

import asyncio
import os

from alembic import context
from sqlalchemy import Connection
from sqlmodel import SQLModel

from app.domain.errors import SetupError
from app.storage import tables, tables_api, tables_asking, tables_living, tables_reports, tables_schedules
from app.storage.migrate import with_connection

DECLARED = (
    *(tables.RunRow, tables_api.WebhookRow, tables_asking.RunRubricRow, tables_reports.ReportTaskRow),
    *(tables_living.CollectionRow, tables_schedules.ScheduleRow),
)
assert all(row.metadata is SQLModel.metadata for row in DECLARED)


def run(connection: Connection) -> None:
    """Run the migrations that Alembic's command asked for."""
    context.configure(connection=connection, target_metadata=SQLModel.metadata, compare_server_default=True)
    with context.begin_transaction():
        context.run_migrations()


given: Connection | None = context.config.attributes.get("connection")
if given is not None:
    run(given)
elif url := os.environ.get("RUBRICA_DATABASE_OWNER_URL"):
    asyncio.run(with_connection(url, run))
else:
    raise SetupError("name the database in RUBRICA_DATABASE_OWNER_URL, or use `rubrica migrate`")
