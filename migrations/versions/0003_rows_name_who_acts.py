"""A row that the API's role adds names nobody but who acts; roles are given up to one's own; sessions say where they began."""

import sqlalchemy as sa
from alembic import op

from app.database.role_names import API_ROLE
from migrations.functions import load_functions
from migrations.tenancy import check_rows

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

USER = "(NULLIF(current_setting('rubrica.user'::text, true), ''::text))::uuid"
KEY = "(NULLIF(current_setting('rubrica.key'::text, true), ''::text))::uuid"
BY_USER, BY_KEY = f"({{}} IS NULL OR {{}} = {USER})", f"({{}} IS NULL OR {{}} = {KEY})"
# The columns that name the person and the key by which a row is added.
ACTORS = {
    "annotation_tasks": ("created_by",),
    "api_keys": ("user_id", "made_by"),
    "assignments": ("user_id",),
    "choices": ("user_id",),
    "claim_flags": ("user_id",),
    "collections": ("created_by",),
    "comparisons": ("created_by",),
    "drafts": ("created_with",),
    "organisation_consents": ("given_by",),
    "person_consents": ("user_id",),
    "ratings": ("user_id",),
    "report_tasks": ("created_with", "created_by"),
    "run_rubrics": ("edited_by",),
    "runs": ("created_with", "created_by"),
    "schedules": ("created_by",),
    "viewings": ("user_id",),
    "writer_defaults": ("set_by",),
}
KEYS = ("created_with", "made_by")
OTHERS = {
    "audit": f"user_id IS NOT DISTINCT FROM {USER} AND key_id IS NOT DISTINCT FROM {KEY}",
    "idempotency_keys": f"owner_id = {USER} OR owner_id = {KEY}",
    "invitations": f"invited_by = {USER} AND may_give(role)",
}
# Whose a row is does not change.
OWN = ("choices", "claim_flags", "person_consents", "ratings", "viewings")


def upgrade() -> None:
    op.add_column("sessions", sa.Column("address", sa.Text(), server_default="", nullable=False))
    load_functions(op, revision, "may_give")
    for table, columns in ACTORS.items():
        added = " AND ".join((BY_KEY if name in KEYS else BY_USER).format(name, name) for name in columns)
        check_rows(op, table, added, f"user_id = {USER}" if table in OWN else "")
    for table, added in OTHERS.items():
        check_rows(op, table, added)
    check_rows(op, "memberships", changed="may_give(role)")
    op.execute(f"REVOKE INSERT, UPDATE ON memberships FROM {API_ROLE}")
    op.execute(f"GRANT UPDATE (role) ON memberships TO {API_ROLE}")
    op.execute(f"REVOKE INSERT ON audit FROM {API_ROLE}")
    op.execute(f"GRANT INSERT (organisation_id, user_id, key_id, address, action, subject, detail) ON audit TO {API_ROLE}")


def downgrade() -> None:
    op.execute(f"REVOKE INSERT (organisation_id, user_id, key_id, address, action, subject, detail) ON audit FROM {API_ROLE}")
    op.execute(f"GRANT INSERT ON audit TO {API_ROLE}")
    op.execute(f"REVOKE UPDATE (role) ON memberships FROM {API_ROLE}")
    op.execute(f"GRANT INSERT, UPDATE ON memberships TO {API_ROLE}")
    for table in (*ACTORS, *OTHERS):
        op.execute(f"DROP POLICY added ON {table}")
    for table in (*OWN, "memberships"):
        op.execute(f"DROP POLICY changed ON {table}")
    op.execute("DROP FUNCTION may_give")
    op.drop_column("sessions", "address")
