"""Collections of own documents; whoever may not use one does not see it."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import organisation_column, protect

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
ACTING_USER = "nullif(current_setting('rubrica.user', true), '')::uuid"
# Whoever acts may use a collection that is open to all, is theirs, names them or their role; owners and admins may use all.
MAY_USE = f"""
    CREATE FUNCTION may_use(c collections) RETURNS boolean LANGUAGE sql STABLE AS $$
        SELECT c.organisation_id = current_organisation()
           AND (c.everyone OR c.created_by = {ACTING_USER} OR {ACTING_USER} = ANY (c.users)
                OR EXISTS (SELECT FROM memberships m WHERE m.organisation_id = c.organisation_id AND m.user_id = {ACTING_USER}
                           AND (m.role IN ('owner', 'admin') OR m.role = ANY (c.roles)))) $$"""
OF_VISIBLE = "EXISTS (SELECT FROM collections c WHERE c.id = collection_documents.collection_id)"


def upgrade() -> None:
    _add_collections()
    op.execute(MAY_USE)
    protect(op, "collections", visible="may_use(collections)")
    protect(op, "collection_documents", visible=OF_VISIBLE)
    protect(op, "collection_runs", "SELECT, INSERT")


def _add_collections() -> None:
    op.create_table(
        "collections",
        _id(),
        organisation_column(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("everyone", sa.Boolean(), nullable=False),
        sa.Column("users", sa.ARRAY(sa.Uuid()), server_default="{}", nullable=False),
        sa.Column("roles", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        _created_by(),
        _at("created_at"),
        sa.Column("deleted_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    there = sa.text("deleted_at IS NULL")
    op.create_index("collections_by_name", "collections", ["organisation_id", "name"], unique=True, postgresql_where=there)
    op.execute("CREATE INDEX collections_newest_first ON collections (organisation_id, created_at DESC, id DESC)")
    op.create_table(
        "collection_documents",
        _id(),
        organisation_column(),
        _of("collections", "collection_id"),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), server_default="received", nullable=False),
        _text("detail"),
        _text("snapshot"),
        sa.Column("characters", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        _at("received_at"),
        sa.Column("deleted_at", TIME, nullable=True),
        sa.CheckConstraint("state IN ('received', 'parsed', 'indexed', 'failed', 'deleting')", name="collection_documents_state"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "collection_documents_by_name", "collection_documents", ["collection_id", "name"], unique=True, postgresql_where=there
    )
    op.execute(
        "CREATE INDEX collection_documents_newest_first ON collection_documents (collection_id, received_at DESC, id DESC)"
    )
    op.create_index("collection_documents_by_snapshot", "collection_documents", ["snapshot"])
    unsettled = sa.text("state NOT IN ('indexed', 'failed')")
    op.create_index("collection_documents_unsettled", "collection_documents", ["collection_id"], postgresql_where=unsettled)
    op.create_table(
        "collection_runs",
        _of("collections", "collection_id"),
        _of("runs", "run_id"),
        organisation_column(),
        sa.PrimaryKeyConstraint("collection_id", "run_id"),
    )
    op.create_index("collection_runs_of_run", "collection_runs", ["run_id"])


def _id() -> sa.Column[Any]:
    return sa.Column("id", sa.Uuid(), nullable=False)


def _of(table: str, name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Uuid(), sa.ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=False)


def _text(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def _at(name: str) -> sa.Column[Any]:
    return sa.Column(name, TIME, server_default=sa.text("now()"), nullable=False)


def _created_by() -> sa.Column[Any]:
    key = sa.ForeignKey("users.id", ondelete="SET NULL")
    return sa.Column("created_by", sa.Uuid(), key, server_default=sa.text(ACTING_USER), nullable=True)


def downgrade() -> None:
    for table in ("collection_runs", "collection_documents"):
        op.drop_table(table)
    op.execute("DROP FUNCTION may_use CASCADE")
    op.drop_table("collections")
