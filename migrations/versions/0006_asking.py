"""A run may wait for its plan to be approved, and be held to a rubric; what is drafted before a run is kept."""

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import organisation_column, protect, protect_by_run

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

BEFORE = ("queued", "running", "paused", "budget_reached", "completed", "failed", "cancelled")
SINCE = ("queued", "running", "awaiting_approval", *BEFORE[2:])
NOW = sa.text("now()")
ZERO = sa.text("0")


def upgrade() -> None:
    op.add_column("runs", sa.Column("approved", sa.Boolean(), server_default="false", nullable=False))
    _allow(SINCE)
    op.create_table(
        "run_rubrics",
        sa.Column("run_id", sa.Uuid(), sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
        sa.Column("drafted", sa.JSON(), nullable=True),
        sa.Column("rubric", sa.JSON(), nullable=False),
        sa.Column("edited_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("scorecard", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("run_id"),
    )
    protect_by_run(op, "run_rubrics", "SELECT, INSERT, UPDATE")
    op.create_table(
        "drafts",
        sa.Column("id", sa.Uuid(), nullable=False),
        organisation_column(),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("model", sa.Text(), server_default="", nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), server_default=ZERO, nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), server_default=ZERO, nullable=False),
        sa.Column("cost_microusd", sa.BigInteger(), server_default=ZERO, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    protect(op, "drafts", "SELECT, INSERT")


def downgrade() -> None:
    """A run that waits for approval is a paused one to the code before; resuming it there carries its plan out."""
    op.drop_table("drafts")
    op.drop_table("run_rubrics")
    op.execute("ALTER TABLE runs NO FORCE ROW LEVEL SECURITY")
    op.execute("UPDATE runs SET status = 'paused' WHERE status = 'awaiting_approval'")
    op.execute("ALTER TABLE runs FORCE ROW LEVEL SECURITY")
    _allow(BEFORE)
    op.drop_column("runs", "approved")


def _allow(statuses: tuple[str, ...]) -> None:
    op.drop_constraint("runs_status", "runs", type_="check")
    op.create_check_constraint("runs_status", "runs", f"status IN ({', '.join(map(repr, statuses))})")
