"""Loads the homes of former versions (`homes/<revision>`), as they were on the day of the release."""

import io
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
from alembic import command
from sqlalchemy import Connection

from app.database.migrate import config, with_connection
from app.private_file import write_private_file
from infra.local.home import Home
from infra.local.postgres import LocalPostgres
from tests.support.accounts import HOME_KEY

HOMES = Path(__file__).parent / "homes"
IN_HOME = "{home}"
"""Stands for the home's folder in the store of retrieval."""
BYTES = {"bytea_output": "escape"}
COPIED = re.compile(rb"^COPY (\w+) \(([^)]+)\) FROM stdin;\n(.*?)^\\\.$", re.MULTILINE | re.DOTALL)


class OldTable(NamedTuple):
    """The rows of a table as lines of `COPY`, and the columns that they have."""

    name: str
    columns: str
    rows: bytes


def revisions() -> list[str]:
    """Return the revisions of which there is a home."""
    return sorted(path.name for path in HOMES.iterdir() if path.is_dir())


def read_tables(revision: str) -> list[OldTable]:
    """Return the tables of a home's database."""
    found = COPIED.findall((HOMES / revision / "database.sql").read_bytes())
    return [OldTable(name.decode(), columns.decode(), rows) for name, columns, rows in found]


async def migrate_to(url: str, direction: str, revision: str) -> None:
    """Upgrade or downgrade a database to any revision; the product itself knows its own alone."""
    steps: dict[str, Any] = {"upgrade": command.upgrade, "downgrade": command.downgrade}

    def migrate(connection: Connection) -> None:
        steps[direction](config(connection), revision)

    await with_connection(url, migrate)


async def load_database(owner: str, administrator: str, revision: str) -> None:
    """Make the schema of that time as the owner of the database, and fill it as an administrator, whom no policy binds."""
    await migrate_to(owner, "upgrade", revision)
    connection = await asyncpg.connect(administrator)
    await connection.execute("SET session_replication_role = replica")  # no trigger tells anybody of these rows again
    for table in read_tables(revision):
        columns = [column.strip('"') for column in table.columns.split(", ")]
        await connection.copy_to_table(table.name, source=io.BytesIO(table.rows), columns=columns)
    await connection.close()


async def find_lost_rows(administrator: str, revision: str) -> dict[str, list[bytes]]:
    """Return the rows of a home that its database no longer has, by table: in the columns that they had, word for word."""
    connection = await asyncpg.connect(administrator, server_settings=BYTES)
    lost = dict[str, list[bytes]]()
    for table in read_tables(revision):
        rows = io.BytesIO()
        await connection.copy_from_query(f"SELECT {table.columns} FROM {table.name}", output=rows)
        if gone := set(table.rows.splitlines()) - set(rows.getvalue().splitlines()):
            lost[table.name] = sorted(gone)
    await connection.close()
    return lost


async def lay_out(home: Home, revision: str) -> None:
    """Make a whole home: the cluster with its database, the documents, the store of retrieval, the key.

    Its indexes are not there, as on a machine whose engine can no longer read them. Nor is what Temporal knew.
    """
    home.prepare()
    write_private_file(home.key, f"{HOME_KEY}\n")
    server = LocalPostgres(home.postgres, home.log_of("postgres"))
    await server.start()
    try:
        await load_database(server.url_of(), server.url_of(), revision)
    finally:
        server.stop()
    shutil.copytree(HOMES / revision / "documents", home.root / "documents")
    (home.root / "retrieval").mkdir()
    with closing(sqlite3.connect(home.root / "retrieval" / "store.db")) as store:
        store.executescript((HOMES / revision / "store.sql").read_text().replace(IN_HOME, str(home.root)))
