"""Sessions, invitations, identities of an identity provider, buckets of attempts, and the audit log."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import for_worker_only, organisation_column, protect

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql" / "0012_sign_in.sql"
NOW = sa.text("now()")
TABLES = ("audit", "rate_buckets", "oidc_flows", "identities", "invitations", "sessions")
MEMBER = ["memberships.organisation_id", "memberships.user_id"]


def _time(name: str, nullable: bool = False, default: sa.TextClause | None = None) -> "sa.Column[object]":
    return sa.Column(name, sa.DateTime(timezone=True), server_default=default, nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        organisation_column(),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        _time("created_at", default=NOW),
        _time("renewed_at", default=NOW),
        _time("seen_at", default=NOW),
        _time("expires_at"),
        sa.ForeignKeyConstraint(["organisation_id", "user_id"], MEMBER, ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    op.create_index("sessions_of_user", "sessions", ["user_id"])
    op.create_index("sessions_of_organisation", "sessions", ["organisation_id", "user_id"])
    op.create_table(
        "invitations",
        sa.Column("id", sa.Uuid(), nullable=False),
        organisation_column(),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("invited_by", sa.Uuid(), sa.ForeignKey("users.id", ondelete="SET NULL"), nullable=True),
        _time("created_at", default=NOW),
        _time("expires_at"),
        sa.CheckConstraint("role IN ('owner', 'admin', 'member', 'viewer')", name="invitations_role"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("token_hash", name="invitations_token"),
        sa.UniqueConstraint("organisation_id", "email", name="invitations_email"),
    )
    op.create_table(
        "identities",
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Uuid(), sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
        _time("created_at", default=NOW),
        sa.PrimaryKeyConstraint("issuer", "subject"),
    )
    op.create_index("identities_of_user", "identities", ["user_id"])
    op.create_table(
        "oidc_flows",
        sa.Column("state_hash", sa.LargeBinary(), nullable=False),
        sa.Column("nonce", sa.Text(), nullable=False),
        sa.Column("verifier", sa.Text(), nullable=False),
        _time("expires_at"),
        sa.PrimaryKeyConstraint("state_hash"),
    )
    # Unlogged: what is lost in a crash is a count of attempts, and one is taken without a disk flush.
    op.create_table(
        "rate_buckets",
        sa.Column("subject", sa.Text(), nullable=False),
        _time("full_at"),
        sa.PrimaryKeyConstraint("subject"),
        prefixes=["UNLOGGED"],
    )
    op.execute("ALTER TABLE rate_buckets SET (fillfactor = 20)")
    op.create_table(
        "audit",
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        organisation_column(),
        _time("at", default=sa.text("clock_timestamp()")),
        sa.Column("user_id", sa.Uuid(), sa.ForeignKey("users.id", ondelete="SET NULL"), nullable=True),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("address", sa.Text(), server_default="", nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.execute("CREATE INDEX audit_newest_first ON audit (organisation_id, at DESC, id DESC)")
    script = SQL.read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))  # type: ignore[union-attr]
    protect(op, "sessions", "DELETE, SELECT (organisation_id, user_id, created_at, seen_at, expires_at)")
    protect(op, "invitations", "INSERT, DELETE, SELECT (id, organisation_id, email, role, invited_by, created_at, expires_at)")
    protect(op, "audit", "SELECT, INSERT")
    for table in ("identities", "oidc_flows", "rate_buckets"):
        for_worker_only(op, table)


def downgrade() -> None:
    op.execute("DROP FUNCTION take_token")
    for table in TABLES:
        op.drop_table(table)
