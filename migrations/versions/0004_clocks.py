"""Functions that believe no moment further away than they write one, and looks at the clock by which data is deleted."""

import sqlalchemy as sa
from alembic import op

from migrations.functions import load_functions
from migrations.tenancy import protect_table

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

NEW = ("active_seconds_of", "settled_now")
CHANGED = (
    *("begin_call", "budget_allows", "report_delivery", "set_status", "sweep_outside"),
    *("take_deliveries", "take_slot", "take_token"),
)


def upgrade() -> None:
    op.create_table("clock_looks", sa.Column("at", sa.TIMESTAMP(timezone=True), primary_key=True))
    protect_table(op, "clock_looks", "", "false")
    load_functions(op, revision, *NEW, *CHANGED)


def downgrade() -> None:
    load_functions(op, down_revision, *CHANGED)
    for name in NEW:
        op.execute(f"DROP FUNCTION {name}")
    op.drop_table("clock_looks")
