"""Drafts, changes and questions know the key that asked for them, and are found by time: quotas count them."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

TABLES = ("drafts", "report_tasks")
ACTING_KEY = "nullif(current_setting('rubrica.key', true), '')::uuid"


def upgrade() -> None:
    """What was asked before is no key's."""
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ADD COLUMN created_with uuid")
        op.execute(f"ALTER TABLE {table} ALTER COLUMN created_with SET DEFAULT {ACTING_KEY}")
    op.execute("CREATE INDEX drafts_of_organisation ON drafts (organisation_id, created_at)")
    op.execute("CREATE INDEX report_tasks_ended ON report_tasks (finished_at)")


def downgrade() -> None:
    """The keys are forgotten."""
    op.execute("DROP INDEX report_tasks_ended")
    op.execute("DROP INDEX drafts_of_organisation")
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} DROP COLUMN created_with")
