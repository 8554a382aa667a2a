"""Idempotency keys, and webhooks with their messages."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import organisation_column, protect

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

FUNCTIONS = Path(__file__).parents[1] / "sql" / "0007_webhooks.sql"
NOW = sa.text("now()")
NEW_ID = sa.text("gen_random_uuid()")
TIME = sa.DateTime(timezone=True)
# The API sets secrets and never reads one.
SHOWN = "id, organisation_id, url, description, events, enabled, disabled_reason, failing_since, created_at"
CHANGED = "url, description, events, secret, enabled, disabled_reason, failing_since"


def upgrade() -> None:
    op.create_table(
        "idempotency_keys",
        organisation_column(),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.Text(), server_default="working", nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("headers", sa.Text(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("claimed_at", TIME, server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", "owner_id", "key"),
    )
    op.create_index("idempotency_keys_by_age", "idempotency_keys", ["claimed_at"])
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Uuid(), nullable=False),
        organisation_column(),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("events", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("previous_secret", sa.Text(), nullable=True),
        sa.Column("previous_until", TIME, nullable=True),
        sa.Column("enabled", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("disabled_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("failing_since", TIME, nullable=True),
        sa.Column("created_at", TIME, server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("webhooks_of_organisation", "webhooks", ["organisation_id", "created_at"])
    _add_deliveries()
    script = FUNCTIONS.read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))  # type: ignore[union-attr]
    protect(op, "idempotency_keys")
    protect(op, "webhooks", f"DELETE, INSERT, SELECT ({SHOWN}), UPDATE ({CHANGED})")
    protect(op, "webhook_deliveries", "SELECT, INSERT, UPDATE")


def _add_deliveries() -> None:
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Uuid(), server_default=NEW_ID, nullable=False),
        organisation_column(),
        sa.Column("webhook_id", sa.Uuid(), sa.ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="pending", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", TIME, server_default=NOW, nullable=False),
        sa.Column("next_attempt_at", TIME, server_default=NOW, nullable=True),
        sa.Column("delivered_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("webhook_deliveries_due", "webhook_deliveries", ["next_attempt_at"], postgresql_where="state = 'pending'")
    op.create_index(
        "webhook_deliveries_newest", "webhook_deliveries", ["webhook_id", sa.text("created_at DESC"), sa.text("id DESC")]
    )


def downgrade() -> None:
    op.execute("DROP TRIGGER runs_tell_of_status ON runs")
    for table in ("webhook_deliveries", "webhooks", "idempotency_keys"):
        op.drop_table(table)
    op.execute("DROP FUNCTION report_delivery, take_deliveries, tell_of_status, tell_webhooks, put_secret_aside")
