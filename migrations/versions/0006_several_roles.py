"""Versions and canaries with several roles, and one cycle of a plan at a time."""

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import all_rows

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

WITH_ROLES = ("model_versions", "canaries")
INDEX = "retraining_cycles_under_way"
# Two starts at once could begin two cycles of a plan: the older one goes on.
END_LATER_ONES = """
    UPDATE retraining_cycles c SET state = 'stopped', ended_at = now(), detail = 'another cycle of this plan was under way'
    WHERE ended_at IS NULL AND EXISTS (
        SELECT FROM retraining_cycles o WHERE o.ended_at IS NULL AND o.plan ->> 'name' = c.plan ->> 'name'
        AND (o.created_at, o.id) < (c.created_at, c.id))"""


def upgrade() -> None:
    for table in WITH_ROLES:
        op.add_column(table, sa.Column("also", sa.ARRAY(sa.Text()), server_default="{}", nullable=False))
    with all_rows(op, "retraining_cycles"):
        op.execute(END_LATER_ONES)
    op.create_index(
        INDEX, "retraining_cycles", [sa.text("(plan ->> 'name')")], unique=True, postgresql_where=sa.text("ended_at IS NULL")
    )


def downgrade() -> None:
    op.drop_index(INDEX, "retraining_cycles")
    for table in WITH_ROLES:
        op.drop_column(table, "also")
