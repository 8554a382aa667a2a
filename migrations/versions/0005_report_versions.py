"""Versions of reports, what readers have done to them, and links to share them."""

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import organisation_column, protect, protect_by_run

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

NOW = sa.text("now()")
TABLES = ("report_versions", "report_tasks", "report_shares")


def upgrade() -> None:
    op.create_table(
        "report_versions",
        _run(),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("based_on", sa.Integer(), nullable=False),
        sa.Column("section", sa.Integer(), nullable=True),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("usage", sa.JSON(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("markdown", sa.Text(), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        _time("created_at"),
        sa.CheckConstraint(
            "origin IN ('delivered', 'edited', 'rewritten', 'deepened', 'reverted')", name="report_versions_origin"
        ),
        sa.PrimaryKeyConstraint("run_id", "n"),
    )
    _create_tasks()
    op.create_table(
        "report_shares",
        sa.Column("id", sa.Uuid(), nullable=False),
        organisation_column(),
        _run(),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        _time("created_at"),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_read_at", sa.DateTime(timezone=True), nullable=True),
        sa.UniqueConstraint("token_hash", name="report_shares_token"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("report_shares_of_run", "report_shares", ["run_id"])
    protect_by_run(op, "report_versions", "SELECT, INSERT")
    protect_by_run(op, "report_tasks", "SELECT, INSERT")
    protect(op, "report_shares", "INSERT, UPDATE (revoked_at), SELECT (id, organisation_id, run_id, version, created_at, "
            "expires_at, revoked_at, last_read_at)")  # fmt: skip


def _create_tasks() -> None:
    op.create_table(
        "report_tasks",
        sa.Column("id", sa.Uuid(), nullable=False),
        _run(),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("base", sa.Integer(), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("status", sa.Text(), server_default="queued", nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("usage", sa.JSON(), nullable=True),
        _time("created_at"),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('edit', 'rewrite', 'deepen', 'question')", name="report_tasks_kind"),
        sa.CheckConstraint("status IN ('queued', 'done', 'failed')", name="report_tasks_status"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("report_tasks_of_run", "report_tasks", ["run_id", sa.text("created_at DESC"), sa.text("id DESC")])
    op.create_index(
        "report_tasks_one_change",
        "report_tasks",
        ["run_id", "base"],
        unique=True,
        postgresql_where=sa.text("kind <> 'question' AND status <> 'failed'"),
    )
    op.create_index("report_tasks_queued", "report_tasks", ["created_at"], postgresql_where=sa.text("status = 'queued'"))


def _run() -> "sa.Column[object]":
    return sa.Column("run_id", sa.Uuid(), sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False)


def _time(name: str) -> "sa.Column[object]":
    return sa.Column(name, sa.DateTime(timezone=True), server_default=NOW, nullable=False)


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
