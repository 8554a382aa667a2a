"""A row that the API adds names nobody but the person and the key that act, and roles are given up to one's own."""

from uuid import UUID, uuid4

import asyncpg
import pytest
from sqlalchemy import Table

from app.accounts.nouns.access import Role
from app.accounts.storage import organisations as accounts
from app.database.tables.metadata import METADATA
from app.database.tables.protection import protection_of
from tests.support.rows import Row, make_row, write_insert

ORGANISATION = "INSERT INTO organisations (id, name) VALUES ($1, 'Ours')"
ACT = """
    SELECT set_config('rubrica.organisation', $1, true), set_config('rubrica.user', $2, true),
           set_config('rubrica.key', $3, true)"""
KEYS = ("created_with", "made_by", "key_id")
PEOPLE = ("user_id", "created_by", "edited_by", "given_by", "set_by", "invited_by", "owner_id")
NAMED = [
    pytest.param(table, column.name, id=f"{table.name}.{column.name}")
    for table in METADATA.sorted_tables
    for column in table.columns
    if column.name in (*PEOPLE, *KEYS) and "INSERT" in protection_of(table).api
]
OWN = [pytest.param(table, id=table.name) for table in METADATA.sorted_tables if "user_id" in protection_of(table).changed]


def test_every_table_that_names_people_was_found() -> None:
    found = {param.values[0].name for param in NAMED}
    assert {"audit", "api_keys", "runs", "choices", "invitations", "person_consents", "idempotency_keys"} <= found
    assert len(NAMED) > 20
    assert len(OWN) > 4


async def act(as_api: asyncpg.Connection, organisation: UUID, user: UUID, key: UUID, statement: str, *arguments: object) -> str:
    async with as_api.transaction():
        await as_api.execute(ACT, str(organisation), str(user), str(key))
        done: str = await as_api.execute(statement, *arguments)
    return done


async def make_named(pool: asyncpg.Pool, table: Table, column: str = "user_id") -> tuple[Row, UUID, UUID]:
    """Return a row of an organisation, which names one of its owners in `column`, its organisation and that owner."""
    organisation = uuid4()
    await pool.execute(ORGANISATION, organisation)
    async with pool.acquire() as connection:
        row = await make_row(connection, table, organisation)
    me = row.get("user_id") or uuid4()
    await add_person(pool, organisation, me, Role.OWNER)
    row |= {name: me for name in (column, "user_id", "key_id") if name in table.columns}
    return {name: value for name, value in row.items() if (table.name, name) != ("audit", "id")}, organisation, me


async def add_person(pool: asyncpg.Pool, organisation: UUID, user: UUID, role: Role) -> UUID:
    await accounts.ensure_user(pool, user, f"{user}@example.org")
    await accounts.ensure_membership(pool, organisation, user, role)
    return user


@pytest.mark.parametrize(("table", "column"), NAMED)
async def test_nobody_writes_in_the_name_of_another(
    pool: asyncpg.Pool, as_api: asyncpg.Connection, table: Table, column: str
) -> None:
    row, organisation, me = await make_named(pool, table, column)
    colleague = await add_person(pool, organisation, uuid4(), Role.OWNER)
    names_key = column in KEYS
    user, key = row.get("user_id", me), row.get("key_id", me if names_key else uuid4())
    for stranger in (colleague, uuid4()):
        acting = (user, stranger) if names_key else (stranger, key)
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            await act(as_api, organisation, *acting, *write_insert(table, row))
    assert await act(as_api, organisation, user, key, *write_insert(table, row)) == "INSERT 0 1"


@pytest.mark.parametrize("table", OWN)
async def test_nobody_makes_their_row_anothers(pool: asyncpg.Pool, as_api: asyncpg.Connection, table: Table) -> None:
    row, organisation, me = await make_named(pool, table)
    await pool.execute(*write_insert(table, row))
    colleague = await add_person(pool, organisation, uuid4(), Role.MEMBER)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await act(as_api, organisation, me, uuid4(), f"UPDATE {table.name} SET user_id = $1", colleague)


@pytest.mark.parametrize(
    ("role", "may"), [(Role.OWNER, set(Role)), (Role.ADMIN, set(Role) - {Role.OWNER}), (Role.MEMBER, set()), (Role.VIEWER, set())]
)
async def test_a_role_is_given_up_to_ones_own(pool: asyncpg.Pool, as_api: asyncpg.Connection, role: Role, may: set[Role]) -> None:
    organisation, key = uuid4(), uuid4()
    await pool.execute(ORGANISATION, organisation)
    me, other = [await add_person(pool, organisation, uuid4(), held) for held in (role, Role.VIEWER)]
    invite = "INSERT INTO invitations (id, email, role, token_hash, invited_by, expires_at) VALUES ($1, $2, $3, $4, $5, now())"
    done = set()
    for given in Role:
        mine = uuid4()
        try:
            await act(as_api, organisation, me, key, "UPDATE memberships SET role = $2 WHERE user_id = $1", other, given)
            await act(as_api, organisation, me, key, invite, mine, f"{mine}@example.org", given, mine.bytes, me)
            done.add(given)
        except asyncpg.InsufficientPrivilegeError:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await act(as_api, organisation, me, key, invite, mine, f"{mine}@example.org", given, mine.bytes, me)
    assert done == may


async def test_nobody_becomes_a_member_by_a_statement_of_the_api(pool: asyncpg.Pool, as_api: asyncpg.Connection) -> None:
    organisation, me, stranger, key = uuid4(), uuid4(), uuid4(), uuid4()
    await pool.execute(ORGANISATION, organisation)
    await add_person(pool, organisation, me, Role.OWNER)
    await accounts.ensure_user(pool, stranger, f"{stranger}@example.org")
    for statement in (
        "INSERT INTO memberships (user_id, role) VALUES ($1, 'viewer')",
        "UPDATE memberships SET user_id = $1",
        "INSERT INTO audit (user_id, action, detail, at) VALUES ($1, 'signed_in', '{}', now() - interval '1 year')",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await act(as_api, organisation, me, key, statement, stranger)
    assert await pool.fetchval("SELECT count(*) FROM memberships WHERE user_id = $1", stranger) == 0
