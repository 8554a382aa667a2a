"""Quotas of organisations and keys, and which key asked for a run."""

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import organisation_column, protect

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

LIMITS = ("requests_per_minute", "concurrent_runs", "tokens_per_month", "cost_microusd_per_month")
KEY = sa.text("nullif(current_setting('rubrica.key', true), '')::uuid")


def upgrade() -> None:
    op.create_table(
        "quotas",
        organisation_column(),
        sa.Column("subject", sa.Uuid(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=True) for name in LIMITS),
        sa.PrimaryKeyConstraint("organisation_id", "subject"),
    )
    protect(op, "quotas", "SELECT, INSERT, UPDATE")
    op.add_column("runs", sa.Column("created_with", sa.Uuid(), server_default=KEY, nullable=True))
    # What is under way and what this month has cost is asked before each run of an organisation that has a quota.
    op.create_index("runs_under_way", "runs", ["organisation_id"], postgresql_where=sa.text("finished_at IS NULL"))


def downgrade() -> None:
    op.drop_index("runs_under_way", table_name="runs")
    op.drop_column("runs", "created_with")
    op.drop_table("quotas")
