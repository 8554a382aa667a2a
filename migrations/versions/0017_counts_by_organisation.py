"""Calls of services outside are counted for each organisation."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

NOBODY = "00000000-0000-0000-0000-000000000000"
BEFORE, SINCE = "day, tool, outcome, within_ms", "day, organisation_id, tool, outcome, within_ms"


def upgrade() -> None:
    """What was counted before is nobody's."""
    op.execute(f"ALTER TABLE outside_counts ADD COLUMN organisation_id uuid NOT NULL DEFAULT '{NOBODY}'")
    op.execute("ALTER TABLE outside_counts ALTER COLUMN organisation_id DROP DEFAULT")
    _keyed(SINCE)


def downgrade() -> None:
    """Counts of several organisations would stand under one key; they are no more than counts."""
    op.execute("TRUNCATE outside_counts")
    _keyed(BEFORE)
    op.execute("ALTER TABLE outside_counts DROP COLUMN organisation_id")


def _keyed(columns: str) -> None:
    op.execute("ALTER TABLE outside_counts DROP CONSTRAINT outside_counts_pkey")
    op.execute(f"ALTER TABLE outside_counts ADD PRIMARY KEY ({columns})")
