"""Organisations, people and keys; every row belongs to one organisation, and the API's role sees no other's."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.database.role_names import API_ROLE, WORKER_ROLE
from app.database.roles import ENSURE_ROLE
from migrations.tenancy import for_worker_only, organisation_column, protect, protect_by_run, unprotect

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"
ORGANISATION = """
    CREATE FUNCTION current_organisation() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS
    $$ SELECT nullif(current_setting('rubrica.organisation', true), '')::uuid $$"""
# What the API may do to the rows of a run it sees; the rest is the worker's.
BY_RUN = {
    "ledgers": "SELECT, INSERT, UPDATE",
    "stages": "SELECT",
    "turns": "SELECT",
    "events": "SELECT, INSERT",
    "notes": "SELECT, INSERT",
    "tool_calls": "SELECT",
    "reports": "SELECT",
}
WORKERS = ("outside_limits", "outside_results", "outside_texts", "outside_counts")
# A finding's own sources are in its stage's result; a report's citations are a part of them.
CITED = """
    INSERT INTO run_sources (hash, organisation_id, run_id)
    SELECT DISTINCT cited -> 'source' ->> 'snapshot', r.organisation_id, r.id
    FROM reports JOIN runs r ON r.id = reports.run_id, json_array_elements(reports.evidence -> 'citations') AS cited
    WHERE cited -> 'source' ->> 'snapshot' IS NOT NULL"""
NOW = sa.text("now()")


def upgrade() -> None:
    for role in (API_ROLE, WORKER_ROLE):
        op.execute(ENSURE_ROLE.format(role=role))
    op.execute(ORGANISATION)
    _add_accounts()
    _add_owners()
    _run_script("0004_tenancy.sql")
    protect(op, "organisations", "SELECT, UPDATE", "id = current_organisation()")
    protect(op, "memberships")
    # Hashes of passwords and keys are read by the sign-in and the check of keys only, which happen before anybody is known.
    protect(op, "users", "SELECT (id, email, name, created_at)", "EXISTS (SELECT FROM memberships m WHERE m.user_id = users.id)")
    protect(op, "api_keys", "INSERT, UPDATE (name, revoked_at), DELETE, SELECT (id, organisation_id, user_id, name, scopes, "
            "created_at, expires_at, revoked_at, last_used_at)")  # fmt: skip
    protect(op, "runs")
    protect(op, "run_sources", "SELECT")
    protect(op, "snapshots", "SELECT", "EXISTS (SELECT FROM run_sources s WHERE s.hash = snapshots.hash)")
    for table, may in BY_RUN.items():
        protect_by_run(op, table, may)
    for table in WORKERS:
        for_worker_only(op, table)
    op.execute(f"GRANT SELECT ON alembic_version TO {API_ROLE}, {WORKER_ROLE}")


def _add_accounts() -> None:
    op.create_table(
        "organisations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("email", name="users_email"),
    )
    op.create_table(
        "memberships",
        organisation_column(),
        sa.Column("user_id", sa.Uuid(), sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.CheckConstraint("role IN ('owner', 'admin', 'member', 'viewer')", name="memberships_role"),
        sa.PrimaryKeyConstraint("organisation_id", "user_id"),
    )
    op.create_index("memberships_of_user", "memberships", ["user_id"])
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        organisation_column(),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["organisation_id", "user_id"], ["memberships.organisation_id", "memberships.user_id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("api_keys_of_organisation", "api_keys", ["organisation_id", "user_id"])


def _add_owners() -> None:
    """Runs that are there already go to the local organisation."""
    op.execute(f"INSERT INTO organisations (id, name) SELECT '{LOCAL_ORGANISATION}', 'Local' WHERE EXISTS (SELECT FROM runs)")
    op.add_column("runs", sa.Column("organisation_id", sa.Uuid(), server_default=str(LOCAL_ORGANISATION), nullable=False))
    op.alter_column("runs", "organisation_id", server_default=sa.text("current_organisation()"))
    op.create_foreign_key("runs_organisation_id_fkey", "runs", "organisations", ["organisation_id"], ["id"], ondelete="CASCADE")
    op.add_column(
        "runs",
        sa.Column(
            "created_by",
            sa.Uuid(),
            sa.ForeignKey("users.id", ondelete="SET NULL"),
            server_default=sa.text("nullif(current_setting('rubrica.user', true), '')::uuid"),
            nullable=True,
        ),
    )
    op.drop_index("runs_newest_first", table_name="runs")
    op.execute("CREATE INDEX runs_newest_first ON runs (organisation_id, created_at DESC, id DESC)")
    op.create_table(
        "run_sources",
        sa.Column("hash", sa.Text(), nullable=False),
        organisation_column(),
        sa.Column("run_id", sa.Uuid(), sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
        sa.PrimaryKeyConstraint("hash", "organisation_id", "run_id"),
    )
    op.create_index("run_sources_of_run", "run_sources", ["run_id"])
    op.execute(CITED)


def _run_script(name: str) -> None:
    script = (SQL / name).read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))  # type: ignore[union-attr]


def downgrade() -> None:
    """The roles stay: other databases of the server may use them."""
    op.execute(f"REVOKE ALL ON alembic_version FROM {API_ROLE}, {WORKER_ROLE}")
    for table in ("users", "runs", "snapshots", *BY_RUN, *WORKERS):
        unprotect(op, table)
    _run_script("0004_before_tenancy.sql")
    op.execute("DROP FUNCTION create_run")
    op.drop_table("run_sources")
    op.drop_index("runs_newest_first", table_name="runs")
    op.drop_column("runs", "created_by")
    op.drop_column("runs", "organisation_id")
    op.execute("CREATE INDEX runs_newest_first ON runs (created_at DESC, id DESC)")
    for table in ("api_keys", "memberships", "users", "organisations"):
        op.drop_table(table)
    op.execute("DROP FUNCTION current_organisation")
