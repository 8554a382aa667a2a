"""What workers share about outside calls: limits, results, the texts that came back, and counts."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

FUNCTIONS = Path(__file__).parents[1] / "sql" / "0002_outside.sql"
NAMES = ("sweep_outside", "finish_call", "begin_call", "take_slot")


def upgrade() -> None:
    # Unlogged: a bucket or a cached result that is lost in a crash costs one call, and a slot is taken without a disk flush.
    op.create_table(
        "outside_limits",
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("lane"),
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "outside_results",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("key"),
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "outside_texts",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_table(
        "outside_counts",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("within_ms", sa.Integer(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", "tool", "outcome", "within_ms"),
    )
    op.execute("ALTER TABLE outside_limits SET (fillfactor = 20)")
    script = FUNCTIONS.read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))  # type: ignore[union-attr]


def downgrade() -> None:
    for name in NAMES:
        op.execute(f"DROP FUNCTION {name}")
    for table in ("outside_counts", "outside_texts", "outside_results", "outside_limits"):
        op.drop_table(table)
