"""Schedules with their askings, and messages about what changed."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import organisation_column, protect

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
ACTING_USER = "nullif(current_setting('rubrica.user', true), '')::uuid"

# What changed is told to webhooks in the transaction that finds it.
TELL = """
    CREATE FUNCTION tell_of_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF to_regprocedure('tell_webhooks(uuid, text, jsonb)') IS NOT NULL THEN
            PERFORM tell_webhooks(NEW.organisation_id, 'schedule.changed', jsonb_build_object(
                'schedule_id', NEW.schedule_id, 'due_at', NEW.due_at, 'run_id', NEW.run_id, 'baseline_id', NEW.baseline_id));
        END IF;
        RETURN NULL;
    END
    $$"""
TRIGGER = """
    CREATE TRIGGER schedule_firings_tell AFTER UPDATE OF outcome ON schedule_firings FOR EACH ROW
    WHEN (OLD.outcome IS DISTINCT FROM NEW.outcome AND NEW.outcome = 'changed') EXECUTE FUNCTION tell_of_changes()"""


def upgrade() -> None:
    _add_schedules()
    op.execute(TELL)
    op.execute(TRIGGER)
    protect(op, "schedules")
    protect(op, "schedule_firings", "SELECT")
    protect(op, "deliveries", "SELECT")
    protect(op, "unsubscribes", "SELECT")


def _add_schedules() -> None:
    op.create_table(
        "schedules",
        _id(),
        organisation_column(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("query", sa.JSON(), nullable=False),
        sa.Column("cron", sa.Text(), nullable=False),
        sa.Column("time_zone", sa.Text(), nullable=False),
        sa.Column("jitter_s", sa.Integer(), nullable=False),
        sa.Column("overlap", sa.Text(), nullable=False),
        sa.Column("deliver_to", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("paused", sa.Boolean(), server_default="false", nullable=False),
        _text("detail"),
        _run("baseline_id"),
        sa.Column("revision", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("synced", sa.Integer(), server_default=sa.text("0"), nullable=False),
        _created_by(),
        _at("created_at"),
        sa.Column("deleted_at", TIME, nullable=True),
        sa.CheckConstraint("overlap IN ('skip', 'wait')", name="schedules_overlap"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.execute("CREATE INDEX schedules_newest_first ON schedules (organisation_id, created_at DESC, id DESC)")
    op.create_index("schedules_unsynced", "schedules", ["id"], postgresql_where=sa.text("synced < revision"))
    op.create_table(
        "schedule_firings",
        _of("schedules", "schedule_id"),
        sa.Column("due_at", TIME, nullable=False),
        organisation_column(),
        sa.Column("outcome", sa.Text(), nullable=False),
        _text("detail"),
        _run("run_id"),
        _run("baseline_id"),
        sa.Column("changes", sa.JSON(), nullable=True),
        sa.Column("repeated_calls", sa.Integer(), server_default=sa.text("0"), nullable=False),
        _at("started_at"),
        sa.Column("ended_at", TIME, nullable=True),
        sa.CheckConstraint(
            "outcome IN ('running', 'first', 'unchanged', 'changed', 'failed', 'skipped')", name="schedule_firings_outcome"
        ),
        sa.PrimaryKeyConstraint("schedule_id", "due_at"),
    )
    op.create_table(
        "deliveries",
        _id(),
        organisation_column(),
        _of("schedules", "schedule_id"),
        sa.Column("due_at", TIME, nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        _text("detail"),
        _at("made_at"),
        sa.Column("sent_at", TIME, nullable=True),
        sa.CheckConstraint("state IN ('waiting', 'sent', 'refused', 'unsubscribed')", name="deliveries_state"),
        sa.UniqueConstraint("schedule_id", "due_at", "address", name="deliveries_once"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "unsubscribes",
        _of("schedules", "schedule_id"),
        sa.Column("address", sa.Text(), nullable=False),
        organisation_column(),
        _at("at"),
        sa.PrimaryKeyConstraint("schedule_id", "address"),
    )


def _id() -> sa.Column[Any]:
    return sa.Column("id", sa.Uuid(), nullable=False)


def _of(table: str, name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Uuid(), sa.ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=False)


def _run(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Uuid(), sa.ForeignKey("runs.id", ondelete="SET NULL"), nullable=True)


def _text(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def _at(name: str) -> sa.Column[Any]:
    return sa.Column(name, TIME, server_default=sa.text("now()"), nullable=False)


def _created_by() -> sa.Column[Any]:
    key = sa.ForeignKey("users.id", ondelete="SET NULL")
    return sa.Column("created_by", sa.Uuid(), key, server_default=sa.text(ACTING_USER), nullable=True)


def downgrade() -> None:
    for table in ("unsubscribes", "deliveries", "schedule_firings", "schedules"):
        op.drop_table(table)
    op.execute("DROP FUNCTION tell_of_changes")
