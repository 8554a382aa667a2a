"""What PostgreSQL itself keeps apart, whatever statement it is asked."""

import contextlib
from typing import Any

import asyncpg
import pytest

from app.database.engine import connect
from app.database.role_names import API_ROLE, WORKER_ROLE
from app.database.roles import refuse_bypass
from app.database.tenancy import Tenant, TenantDatabase, act_for
from app.domain.errors import SetupError
from tests.app.database.conftest import OrganisationWithRun

TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')"
PROTECTED = """
    SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity AS forced,
           array_agg(r.rolname::text || ' ' || p.polcmd::text || ' ' || p.polpermissive::text ORDER BY r.rolname) AS policies
    FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid JOIN pg_roles r ON r.oid = ANY (p.polroles)
    WHERE c.relnamespace = 'public'::regnamespace AND p.polpermissive GROUP BY c.oid"""
# Which revision the schema has is nobody's secret.
OPEN = {"alembic_version"}
COLUMNS = """
    SELECT quote_ident(attname) AS name FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0
    AND NOT attisdropped AND has_column_privilege($1, attname, 'SELECT')"""


async def test_every_table_is_protected(pool: asyncpg.Pool) -> None:
    tables = {row["relname"] for row in await pool.fetch(TABLES)} - OPEN
    found = {row["relname"]: (row["forced"], row["policies"]) for row in await pool.fetch(PROTECTED)}
    assert len(tables) > 14
    for table in sorted(tables):
        assert found.get(table) == (True, [f"{API_ROLE} * true", f"{WORKER_ROLE} * true"]), f"{table}: use migrations/tenancy.py"


async def test_nothing_of_another_organisation_is_seen_changed_or_taken(
    pool: asyncpg.Pool, as_api: asyncpg.Connection, houses: tuple[OrganisationWithRun, OrganisationWithRun]
) -> None:
    mine, other = houses
    marks = [str(value) for value in (other.organisation, other.owner, other.run, other.snapshot, other.key.id)]
    await as_api.execute("SELECT set_config('rubrica.organisation', $1, false)", str(mine.organisation))
    theirs: dict[str, int] = {}
    for table in sorted({row["relname"] for row in await pool.fetch(TABLES)} - OPEN):
        theirs[table] = await marked(pool, table, "t::text", marks)
        columns = [row["name"] for row in await as_api.fetch(COLUMNS, table)]
        if columns:
            assert await marked(as_api, table, f"ROW({', '.join(columns)})::text", marks) == 0, table
        take_over = f"UPDATE {table} SET organisation_id = current_organisation()"
        for statement in (f"DELETE FROM {table}", take_over, f"TRUNCATE {table}"):
            await attempt(as_api, statement)
            assert await marked(pool, table, "t::text", marks) == theirs[table], statement
    assert all(
        theirs[table] for table in ("runs", "ledgers", "stages", "events", "notes", "tool_calls", "reports", "run_sources")
    )
    assert all(theirs[table] for table in ("snapshots", "organisations", "users", "memberships", "api_keys"))


async def marked(database: Any, table: str, row: str, marks: list[str]) -> int:
    """How many rows of a table name one of the marks."""
    named = f"EXISTS (SELECT FROM unnest($1::text[]) AS mark WHERE strpos({row}, mark) > 0)"
    counted: int = await database.fetchval(f"SELECT count(*) FROM {table} AS t WHERE {named}", marks)
    return counted


async def attempt(as_api: asyncpg.Connection, statement: str) -> None:
    """Send what the API never would. What it does to our own rows is not looked at."""
    with contextlib.suppress(asyncpg.InsufficientPrivilegeError, asyncpg.UndefinedColumnError, asyncpg.ForeignKeyViolationError):
        await as_api.execute(statement)


async def test_rows_of_others_survive_a_delete_of_everything(
    pool: asyncpg.Pool, api_urls: tuple[str, str], houses: tuple[OrganisationWithRun, OrganisationWithRun]
) -> None:
    mine, other = houses
    opened = await connect(api_urls[0], largest=2)
    with act_for(Tenant(mine.organisation, mine.owner)):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await TenantDatabase(opened).execute("UPDATE runs SET organisation_id = $1", other.organisation)
        for child in ("events (run_id, seq, type, payload) VALUES ($1, 900, 'warning', '{}')", "notes VALUES ($1, 901, 'mine')"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await TenantDatabase(opened).execute(f"INSERT INTO {child}", other.run)
        await TenantDatabase(opened).execute("DELETE FROM runs")
    await opened.close()
    assert await pool.fetchval("SELECT count(*) FROM runs WHERE organisation_id = $1", mine.organisation) == 0
    assert await pool.fetchval("SELECT count(*) FROM events WHERE run_id = $1", other.run) > 3
    assert await pool.fetchval("SELECT count(*) FROM reports WHERE run_id = $1", other.run) == 1


async def test_who_names_no_organisation_sees_and_writes_nothing(
    as_api: asyncpg.Connection, api_urls: tuple[str, str], houses: tuple[OrganisationWithRun, OrganisationWithRun]
) -> None:
    tenants = TenantDatabase(opened := await connect(api_urls[0], largest=1))
    for table in ("runs", "events", "snapshots", "organisations", "memberships"):
        assert await as_api.fetchval(f"SELECT count(*) FROM {table}") == 0
        with act_for(Tenant(houses[0].organisation)):
            assert await tenants.fetchval(f"SELECT count(*) FROM {table}") > 0
        assert await tenants.fetchval(f"SELECT count(*) FROM {table}") == 0, "the connection remembers whom it served"
    with pytest.raises(asyncpg.PostgresError):
        await tenants.execute("INSERT INTO runs (id, query) VALUES (gen_random_uuid(), '{}')")
    await opened.close()


@pytest.mark.parametrize(
    "statement",
    [
        f"SET ROLE {WORKER_ROLE}",
        "SET ROLE rubrica",
        "SET SESSION AUTHORIZATION rubrica",
        "ALTER TABLE runs DISABLE ROW LEVEL SECURITY",
        "DROP POLICY tenant ON runs",
        "CREATE POLICY mine ON runs USING (true)",
        f"ALTER ROLE {API_ROLE} BYPASSRLS",
        f"GRANT {WORKER_ROLE} TO {API_ROLE}",
        "SELECT secret_hash FROM api_keys",
        "SELECT password_hash FROM users",
        "SELECT body FROM outside_texts",
        "CREATE TABLE mine AS SELECT 1",
        "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "COPY runs TO PROGRAM 'cat'",
    ],
)
async def test_the_role_cannot_rise(as_api: asyncpg.Connection, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await as_api.execute(statement)


async def test_switching_row_security_off_refuses_instead_of_showing(
    as_api: asyncpg.Connection, houses: tuple[OrganisationWithRun, OrganisationWithRun]
) -> None:
    await as_api.execute("SET row_security = off")
    for table in ("runs", "events", "snapshots"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            await as_api.fetch(f"SELECT * FROM {table}")


async def test_the_api_refuses_a_role_that_sees_too_much(
    postgres_url: str, api_urls: tuple[str, str], pool: asyncpg.Pool
) -> None:
    for url, reason in ((postgres_url, "is a superuser"), (api_urls[1], f"is a member of {WORKER_ROLE}")):
        opened = await connect(url, largest=1)
        with pytest.raises(SetupError, match=reason):
            await refuse_bypass(opened)
        await opened.close()
    opened = await connect(api_urls[0], largest=1)
    await refuse_bypass(opened)
    await pool.execute(f"GRANT rubrica TO {API_ROLE}")
    try:
        with pytest.raises(SetupError, match="owns the tables"):
            await refuse_bypass(opened)
    finally:
        await pool.execute(f"REVOKE rubrica FROM {API_ROLE}")
        await opened.close()
