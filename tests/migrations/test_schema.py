"""The schema: models and migrations agree, it goes up and down, and processes may start at once."""

import asyncio

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlmodel import SQLModel

from app.accounts.nouns.access import Role
from app.collections.nouns import DocumentState
from app.database.migrate import config, current_revision, downgrade, upgrade, with_connection
from app.database.schema import SCHEMA_REVISION, require_schema
from app.database.tables import api_clients as tables_api
from app.database.tables import runs as tables
from app.domain.deliveries import DeliveryState
from app.domain.errors import SetupError
from app.domain.revision import TaskKind, TaskStatus, VersionOrigin
from app.domain.schedules import Outcome, Overlap

CHECKS = """
    SELECT conname, pg_get_constraintdef(oid) AS text FROM pg_constraint
    WHERE contype = 'c' AND connamespace = 'public'::regnamespace"""
LEFT = """
    SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v') AND relname <> 'alembic_version'
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"""


def test_the_code_works_with_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(config()).get_current_head() == SCHEMA_REVISION


async def test_models_and_migrations_agree(postgres_url: str) -> None:
    differences: list[object] = []

    def compare(connection: Connection) -> None:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        differences.extend(compare_metadata(context, SQLModel.metadata))

    await with_connection(postgres_url, compare)
    assert {tables.RunRow.__tablename__, tables_api.WebhookRow.__tablename__} <= set(SQLModel.metadata.tables)
    assert differences == []


async def test_checks_are_the_ones_the_domain_knows(postgres_url: str) -> None:
    """Autogeneration does not compare these."""
    connection = await asyncpg.connect(postgres_url)
    rows = await connection.fetch(CHECKS)
    await connection.close()
    checks = {row["conname"]: row["text"] for row in rows}
    assert set(checks) >= {
        *("runs_status", "ledgers_control", "memberships_role", "invitations_role"),
        *("report_tasks_kind", "report_tasks_status", "report_versions_origin"),
    }
    for kinds, name in (
        (TaskKind, "report_tasks_kind"),
        (TaskStatus, "report_tasks_status"),
        (VersionOrigin, "report_versions_origin"),
    ):
        assert all(f"'{kind.value}'" in checks[name] for kind in kinds), name
    for status in tables.RunStatus:
        assert f"'{status}'" in checks["runs_status"]
    for role in Role:
        assert f"'{role}'" in checks["memberships_role"]
        assert f"'{role}'" in checks["invitations_role"]
    for outcome in Outcome:
        assert f"'{outcome}'" in checks["schedule_firings_outcome"]
    for overlap in Overlap:
        assert f"'{overlap}'" in checks["schedules_overlap"]
    for delivery in DeliveryState:
        assert f"'{delivery}'" in checks["deliveries_state"]
    for state in DocumentState:
        assert f"'{state}'" in checks["collection_documents_state"]


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
    await connection.execute("COMMENT ON TABLE alembic_version IS '9998'")
    with pytest.raises(SetupError, match=r"is at 9999, and no longer works with this version .*; install the newer one"):
        await require_schema(connection)
    with pytest.raises(SetupError, match="install the newer one"):
        await upgrade(empty_postgres_url)
    await connection.execute("COMMENT ON TABLE alembic_version IS NULL; UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(SetupError, match=f"is at 0001, this version needs {SCHEMA_REVISION}; run `rubrica migrate`"):
        await require_schema(connection)
    await connection.execute("UPDATE alembic_version SET version_num = '9999'")
    await connection.close()
    await upgrade(empty_postgres_url)
    assert await current_revision(empty_postgres_url) == "9999"
