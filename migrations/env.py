"""How Alembic gets its connection: from `app.database.migrate`, or by RUBRICA_DATABASE_OWNER_URL from Alembic's own CLI."""

import asyncio
import os
import pkgutil
from importlib import import_module

from alembic import context
from sqlalchemy import Connection
from sqlmodel import SQLModel

from app.database import tables
from app.database.migrate import with_connection
from app.domain.errors import SetupError

for found in pkgutil.iter_modules(tables.__path__):
    import_module(f"app.database.tables.{found.name}")


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
