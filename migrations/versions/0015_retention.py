"""How long each organisation's data is kept."""

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import organisation_column, protect

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

KEPT = ("runs_days", "events_days", "tool_results_days", "feedback_days")


def upgrade() -> None:
    op.create_table(
        "retentions",
        organisation_column(),
        *(sa.Column(name, sa.Integer(), nullable=True) for name in KEPT),
        sa.PrimaryKeyConstraint("organisation_id"),
    )
    protect(op, "retentions", "SELECT, INSERT, UPDATE")
    # What is past its time is looked for every hour.
    op.create_index("runs_ended", "runs", ["organisation_id", "finished_at"])


def downgrade() -> None:
    op.drop_index("runs_ended", table_name="runs")
    op.drop_table("retentions")
