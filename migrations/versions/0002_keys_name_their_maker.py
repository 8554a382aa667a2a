"""An API key names the key that made it, so that both end together."""

import sqlalchemy as sa
from alembic import op

from app.database.role_names import API_ROLE

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ACTING_KEY = "(NULLIF(current_setting('rubrica.key'::text, true), ''::text))::uuid"
# Makers of earlier keys stand in the audit log.
FILL = """
    UPDATE api_keys k SET made_by = a.key_id FROM audit a
    WHERE a.action = 'key_made' AND a.subject = k.id::text AND a.organisation_id = k.organisation_id"""


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("made_by", sa.Uuid(), nullable=True))
    op.alter_column("api_keys", "made_by", server_default=sa.text(ACTING_KEY))
    op.execute(f"GRANT SELECT (made_by) ON api_keys TO {API_ROLE}")
    for table in ("api_keys", "audit"):
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(FILL)
    for table in ("api_keys", "audit"):
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.drop_column("api_keys", "made_by")
