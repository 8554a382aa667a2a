"""A row names only rows of its own organisation, whoever writes it: its keys carry the organisation. Found from the tables."""

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import asyncpg
import pytest
from sqlalchemy import ForeignKeyConstraint, Table

from app.database.tables.metadata import METADATA
from tests.support.rows import Row, add_parent, make_row, write_insert

ORGANISATIONS = "INSERT INTO organisations (id, name) VALUES ($1, 'Ours'), ($2, 'Theirs')"
ACT = "SELECT set_config('rubrica.organisation', $1, true), set_config('rubrica.user', $2, true)"
REFUSED = (asyncpg.ForeignKeyViolationError, asyncpg.InsufficientPrivilegeError)
KEYS = [
    pytest.param(table, key, id=f"{table.name}: {', '.join(key.column_keys)}")
    for table in METADATA.sorted_tables
    if "organisation_id" in table.columns
    for key in sorted(table.foreign_key_constraints, key=lambda key: key.column_keys)
    if "organisation_id" in key.referred_table.columns
]


@pytest.fixture
async def owner(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(postgres_url)
    yield connection
    await connection.close()


async def rows(owner: asyncpg.Connection, table: Table, key: ForeignKeyConstraint) -> tuple[Row, Row, UUID]:
    """A row of one organisation that may be added, the same row with another's parent, and the organisation."""
    ours, theirs = uuid4(), uuid4()
    await owner.execute(ORGANISATIONS, ours, theirs)
    own = await make_row(owner, table, ours) | await add_parent(owner, key, ours)
    stolen = own | await add_parent(owner, key, theirs) | {"organisation_id": ours}
    return own, stolen, ours


def test_every_table_that_names_another_was_found() -> None:
    assert len(KEYS) > 25
    assert {"runs", "deliveries", "choices", "report_shares", "webhook_deliveries"} <= {param.values[0].name for param in KEYS}


async def attempt(as_api: asyncpg.Connection, row: Row, statement: str, *arguments: object) -> None:
    """Send a statement for the organisation of a row, as the person whose row it is."""
    async with as_api.transaction():
        await as_api.execute(ACT, str(row["organisation_id"]), str(row.get("user_id", "")))
        await as_api.execute(statement, *arguments)


@pytest.mark.parametrize(("table", "key"), KEYS)
async def test_the_api_cannot_name_a_row_of_another_organisation(
    owner: asyncpg.Connection, as_api: asyncpg.Connection, table: Table, key: ForeignKeyConstraint
) -> None:
    own, stolen, _ = await rows(owner, table, key)
    with pytest.raises(REFUSED):
        await attempt(as_api, stolen, *write_insert(table, stolen))
    await owner.execute(*write_insert(table, own))
    named = [name for name in key.column_keys if own[name] != stolen[name]]
    changes = ", ".join(f"{name} = ${n + 2}" for n, name in enumerate(named))
    update = f"UPDATE {table.name} SET {changes} WHERE {named[0]} = $1"
    with pytest.raises(REFUSED):
        await attempt(as_api, stolen, update, own[named[0]], *(stolen[name] for name in named))


@pytest.mark.parametrize(("table", "key"), KEYS)
async def test_the_key_refuses_also_a_role_that_sees_all_rows(
    owner: asyncpg.Connection, api_urls: tuple[str, str], table: Table, key: ForeignKeyConstraint
) -> None:
    own, stolen, _ = await rows(owner, table, key)
    as_worker = await asyncpg.connect(api_urls[1])
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await as_worker.execute(*write_insert(table, stolen))
    await as_worker.execute(*write_insert(table, own))
    await as_worker.close()


@pytest.mark.parametrize(("table", "key"), [param for param in KEYS if "SET NULL" in str(param.values[1].ondelete)])
async def test_a_row_that_outlives_what_it_names_forgets_that_alone(
    owner: asyncpg.Connection, table: Table, key: ForeignKeyConstraint
) -> None:
    own, _, ours = await rows(owner, table, key)
    await owner.execute(*write_insert(table, own))
    named = next(name for name in key.column_keys if name != "organisation_id")
    await owner.execute(f"DELETE FROM {key.referred_table.name} WHERE id = $1", own[named])
    kept = await owner.fetchrow(f"SELECT * FROM {table.name} WHERE organisation_id = $1", ours)
    assert kept is not None
    assert kept[named] is None
