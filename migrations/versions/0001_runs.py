"""Runs, ledgers, stages, turns, events, notes, tool memory, snapshots and reports, with the functions of the run log."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

FUNCTIONS = Path(__file__).parents[1] / "sql" / "0001_run_log.sql"
NAMES = (
    "set_status",
    "close_stage",
    "reserve",
    "store_turn",
    "open_stage",
    "append_event",
    "write_event",
    "halt_of",
    "is_capped",
    "budget_allows",
)


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("query", sa.JSON(), nullable=False),
        sa.Column("status", sa.Text(), server_default="queued", nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("plan", sa.JSON(), nullable=True),
        sa.Column("dropped", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("finish", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("dispatched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'paused', 'budget_reached', 'completed', 'failed', 'cancelled')", name="runs_status"
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "runs_newest_first", "runs", [sa.literal_column("created_at DESC"), sa.literal_column("id DESC")], unique=False
    )
    op.create_index("runs_undispatched", "runs", ["created_at"], unique=False, postgresql_where=sa.text("dispatched_at IS NULL"))
    op.create_table(
        "snapshots",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_table(
        "events",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), server_default="", nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "seq"),
    )
    op.create_table(
        "ledgers",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("control", sa.Text(), server_default="none", nullable=False),
        sa.Column("max_tokens", sa.BigInteger(), nullable=True),
        sa.Column("max_cost_microusd", sa.BigInteger(), nullable=True),
        sa.Column("max_seconds", sa.BigInteger(), nullable=True),
        sa.Column("model_calls", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("tool_calls", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("cost_microusd", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reserved_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reserved_cost_microusd", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("active_seconds", sa.Float(), server_default=sa.text("0"), nullable=False),
        sa.Column("running_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_seq", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("control IN ('none', 'pause', 'cancel')", name="ledgers_control"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_table(
        "notes",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "seq"),
    )
    op.create_table(
        "reports",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("markdown", sa.Text(), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_table(
        "stages",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("done", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("dropped", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("result", sa.LargeBinary(), nullable=True),
        sa.Column("notes_upto", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reserved_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reserved_cost_microusd", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "stage"),
    )
    op.create_table(
        "tool_calls",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("result", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "key"),
    )
    op.create_table(
        "turns",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("granted", sa.Boolean(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "stage", "agent", "ordinal", "revision"),
    )
    # Rows that change with every turn leave room on their page, so that an update touches no index.
    op.execute("ALTER TABLE ledgers SET (fillfactor = 40)")
    op.execute("ALTER TABLE stages SET (fillfactor = 60)")
    script = FUNCTIONS.read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))  # type: ignore[union-attr]


def downgrade() -> None:
    for name in NAMES:
        op.execute(f"DROP FUNCTION {name}")
    op.drop_table("turns")
    op.drop_table("tool_calls")
    op.drop_table("stages")
    op.drop_table("reports")
    op.drop_table("notes")
    op.drop_table("ledgers")
    op.drop_table("events")
    op.drop_table("snapshots")
    op.drop_index("runs_undispatched", table_name="runs", postgresql_where=sa.text("dispatched_at IS NULL"))
    op.drop_index("runs_newest_first", table_name="runs")
    op.drop_table("runs")
