"""A home of each former version comes up to date with all that is in it, and goes back; the product works on it."""

import itertools
import secrets
from typing import NamedTuple

import asyncpg
import pytest

from app.database.migrate import current_revision, upgrade
from app.database.role_names import API_ROLE, WORKER_ROLE
from app.database.schema import SCHEMA_REVISION
from infra.local.postgres import LocalPostgres
from tests.migrations.old_home import find_lost_rows, load_database, migrate_to, revisions
from tests.support.schema_description import describe_schema

_numbers = itertools.count(1)
TABLES = """
    SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'alembic_version'"""
# Tables that a role may look into at all.
READABLE = f"{TABLES} AND has_any_column_privilege($1::text, oid, 'SELECT')"
ACTING = "SELECT set_config('rubrica.organisation', $1, true), set_config('rubrica.user', $2, true)"


class OldDatabase(NamedTuple):
    """A database of a former version: its addresses as a plain owner, whom policies bind too, and as an administrator."""

    revision: str
    owner: str
    administrator: str

    async def find_lost(self) -> dict[str, list[bytes]]:
        return await find_lost_rows(self.administrator, self.revision)


@pytest.fixture(params=revisions())
async def old(request: pytest.FixtureRequest, postgres_server: LocalPostgres) -> OldDatabase:
    name = f"old_home_{next(_numbers)}"
    administrator, password = await postgres_server.ensure_database(name), secrets.token_hex()
    connection = await asyncpg.connect(administrator)
    await connection.execute(f"CREATE ROLE {name} LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD '{password}'")
    await connection.execute(f"ALTER DATABASE {name} OWNER TO {name}")
    await connection.close()
    owner = f"postgresql://{name}:{password}@{administrator.rpartition('@')[2]}"
    await load_database(owner, administrator, request.param)
    return OldDatabase(request.param, owner, administrator)


async def test_the_home_has_rows_in_every_table_of_its_version(old: OldDatabase) -> None:
    assert await current_revision(old.owner) == old.revision
    connection = await asyncpg.connect(old.administrator)
    counts = {table: await connection.fetchval(f"SELECT count(*) FROM {table}") for (table,) in await connection.fetch(TABLES)}
    await connection.close()
    assert len(counts) > 50
    assert [table for table, count in counts.items() if not count] == []


async def test_nothing_is_lost_on_the_way_up_back_and_up_again(old: OldDatabase) -> None:
    assert await old.find_lost() == {}
    before = await describe(old)
    await upgrade(old.owner)
    assert await current_revision(old.owner) == SCHEMA_REVISION
    assert await old.find_lost() == {}
    await migrate_to(old.owner, "downgrade", old.revision)
    assert await old.find_lost() == {}
    assert await describe(old) == before
    await upgrade(old.owner)
    assert await old.find_lost() == {}


async def test_owners_and_workers_see_as_much_as_before(old: OldDatabase) -> None:
    """Of each table, by the roles that the product connects as."""
    before = await count_visible(old)
    assert sum(before.values()) > 500
    await upgrade(old.owner)
    after = await count_visible(old)
    assert {key: (count, after.get(key)) for key, count in before.items() if after.get(key, 0) < count} == {}


async def describe(old: OldDatabase) -> list[str]:
    connection = await asyncpg.connect(old.administrator)
    described = await describe_schema(connection, "public")
    await connection.close()
    return list(described)


async def count_visible(old: OldDatabase) -> dict[tuple[str, str], int]:
    """Count the rows of each table that each organisation's owner sees, and the worker."""
    connection = await asyncpg.connect(old.administrator)
    owners = await connection.fetch("SELECT organisation_id::text, user_id::text FROM memberships WHERE role = 'owner'")
    found = dict[tuple[str, str], int]()
    for role, organisation, user in [(WORKER_ROLE, "", ""), *((API_ROLE, *owner) for owner in owners)]:
        async with connection.transaction():
            tables = [table for (table,) in await connection.fetch(READABLE, role)]
            await connection.execute(f"SET LOCAL ROLE {role}")
            await connection.fetch(ACTING, organisation, user)
            for table in tables:
                found[organisation or role, table] = await connection.fetchval(f"SELECT count(*) FROM {table}")
    await connection.close()
    return found
