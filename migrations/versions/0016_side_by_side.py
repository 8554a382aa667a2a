"""Runs that work another run's question on its evidence are found by that run."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

FIRST = sa.text("(query ->> 'evidence_of'::text)")


def upgrade() -> None:
    op.create_index("runs_side_by_side", "runs", [FIRST], postgresql_where=sa.text("(query ->> 'evidence_of'::text) IS NOT NULL"))


def downgrade() -> None:
    op.drop_index("runs_side_by_side", table_name="runs")
