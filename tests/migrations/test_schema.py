"""The schema: what the migrations make is what the tables and the SQL files say; it goes up and down."""

import asyncio
import hashlib
from typing import Any

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from app.database.migrate import config, current_revision, downgrade, upgrade, with_connection
from app.database.schema import SCHEMA_REVISION, require_schema
from app.database.tables.metadata import METADATA
from app.database.tables.protection import protection_of
from app.domain.errors import SetupError
from migrations.functions import SQL, form_of, functions_at, load_functions
from migrations.tenancy import protect_table
from tests.support.schema_description import describe_schema

LEFT = """
    SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v') AND relname <> 'alembic_version'
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"""
# The SHA-256 of the forms of functions that a revision brought. They stay as they are.
FUNCTIONS_OF = {
    "0001": "1b6be01609e95d11af7e90b439dd724034fd3ecb4dbd284e7f3469d4e974e0cd",
    "0002": "bea121bfdde3eb54c871aaab29da8b11e117d3bf0e19d322da7aed7643d41011",
    "0003": "94bd0a7406ea0aaa54536cebca62cd9600604f41831bac25e54e991664b97e51",
    "0004": "13be1ae1affbd789588262195bec76825dcefbe787c7b83c10284a88c1e2f4e3",
}
BEFORE_THE_FIRST_RELEASE = "made by a version before the first release.*name a new, empty database, or start in a new home"


class Operations:
    """As much of Alembic's operations as functions and policies are made with."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get_bind(self) -> Connection:
        return self._connection

    def execute(self, statement: str) -> None:
        self._connection.execute(text(statement))


def make_as_written(connection: Connection) -> None:
    """Make the schema `written` from the tables and the SQL files alone."""
    operations: Any = Operations(connection)
    connection.execute(text("CREATE SCHEMA written"))
    connection.execute(text("SET LOCAL search_path = written"))
    connection.execute(text("SET LOCAL check_function_bodies = off"))
    load_functions(operations, SCHEMA_REVISION, "current_organisation")
    METADATA.create_all(connection, checkfirst=False)
    load_functions(operations, SCHEMA_REVISION, *functions_at(SCHEMA_REVISION))
    for table in METADATA.sorted_tables:
        protect_table(operations, table.name, *protection_of(table))


def test_the_code_works_with_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(config()).get_current_head() == SCHEMA_REVISION


async def test_autogeneration_finds_nothing_to_do(postgres_url: str) -> None:
    differences: list[object] = []

    def compare(connection: Connection) -> None:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        differences.extend(compare_metadata(context, METADATA))

    await with_connection(postgres_url, compare)
    assert differences == []


async def test_migrations_make_what_tables_and_sql_files_say(empty_postgres_url: str) -> None:
    """Columns, defaults, keys, checks, indexes, storage, functions, triggers, policies and grants."""
    await upgrade(empty_postgres_url)
    await with_connection(empty_postgres_url, make_as_written)
    connection = await asyncpg.connect(empty_postgres_url)
    migrated, written = await describe_schema(connection, "public"), await describe_schema(connection, "written")
    await connection.close()
    assert len(METADATA.tables) > 50
    assert len(migrated) > 15 * len(METADATA.tables)
    assert [line for line in migrated if line not in written] == []
    assert [line for line in written if line not in migrated] == []


async def test_each_sql_file_is_the_function_of_its_name(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    rows = await connection.fetch("SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace")
    assert sorted(row["proname"] for row in rows) == functions_at(SCHEMA_REVISION)
    for name in functions_at(SCHEMA_REVISION):
        script = form_of(name, SCHEMA_REVISION).read_text()
        assert f"CREATE OR REPLACE FUNCTION {name}(" in script
        await connection.execute(script)  # PostgreSQL looks into the body, as a migration does not let it
    await connection.close()


def test_forms_of_functions_stay_as_they_are() -> None:
    """A database that has a revision does not meet its files again: a function changes by a file of a new revision."""
    forms = sorted(SQL.glob("*/*.sql"))
    brought = {
        revision: hashlib.sha256(b"".join(path.read_bytes() for path in forms if path.stem == revision)).hexdigest()
        for revision in sorted({path.stem for path in forms})
    }
    assert brought == FUNCTIONS_OF


async def test_the_schema_goes_up_and_down_and_leaves_nothing(empty_postgres_url: str) -> None:
    await upgrade(empty_postgres_url)
    assert await current_revision(empty_postgres_url) == SCHEMA_REVISION
    await downgrade(empty_postgres_url)
    connection = await asyncpg.connect(empty_postgres_url)
    assert [row[0] for row in await connection.fetch(LEFT)] == []
    await connection.close()
    await upgrade(empty_postgres_url)
    assert await current_revision(empty_postgres_url) == SCHEMA_REVISION


async def test_processes_that_start_at_once_migrate_once(empty_postgres_url: str) -> None:
    await asyncio.gather(*(upgrade(empty_postgres_url) for _ in range(4)))
    assert await current_revision(empty_postgres_url) == SCHEMA_REVISION


async def test_a_newer_schema_is_left_alone_and_serves_until_it_says_otherwise(empty_postgres_url: str) -> None:
    await upgrade(empty_postgres_url)
    connection = await asyncpg.connect(empty_postgres_url)
    await connection.execute("UPDATE alembic_version SET version_num = '9999'")
    await require_schema(connection)
    await connection.execute("COMMENT ON TABLE alembic_version IS 'for programs from revision 9998 on'")
    with pytest.raises(SetupError, match=r"is at 9999, and no longer works with this version .*; install the newer one"):
        await require_schema(connection)
    with pytest.raises(SetupError, match="install the newer one"):
        await upgrade(empty_postgres_url)
    await connection.execute("COMMENT ON TABLE alembic_version IS 'for programs from revision 0001 on'")
    await connection.execute("UPDATE alembic_version SET version_num = '0000'")
    with pytest.raises(SetupError, match=f"is at 0000, this version needs {SCHEMA_REVISION}; run `rubrica migrate`"):
        await require_schema(connection)
    await connection.execute("UPDATE alembic_version SET version_num = '9999'")
    await connection.close()
    await upgrade(empty_postgres_url)
    assert await current_revision(empty_postgres_url) == "9999"


@pytest.mark.parametrize(("revision", "comment"), [("0001", ""), ("0025", ""), ("0001", "0001"), ("0004", "0001")])
async def test_a_database_from_before_the_first_release_is_refused_and_left_alone(
    empty_postgres_url: str, revision: str, comment: str
) -> None:
    connection = await asyncpg.connect(empty_postgres_url)
    await connection.execute("CREATE TABLE alembic_version (version_num varchar(32) NOT NULL)")
    await connection.execute("INSERT INTO alembic_version VALUES ($1)", revision)
    if comment:
        await connection.execute(f"COMMENT ON TABLE alembic_version IS '{comment}'")
    with pytest.raises(SetupError, match=BEFORE_THE_FIRST_RELEASE):
        await require_schema(connection)
    with pytest.raises(SetupError, match=BEFORE_THE_FIRST_RELEASE):
        await upgrade(empty_postgres_url)
    assert await connection.fetchval("SELECT version_num FROM alembic_version") == revision
    assert [row[0] for row in await connection.fetch(LEFT)] == []
    await connection.close()
