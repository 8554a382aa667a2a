"""Functions that believe no moment further away than they write one."""

from alembic import op

from migrations.functions import load_functions

revision = "0004"
down_revision = "0001"
branch_labels = None
depends_on = None

FUNCTIONS = ("begin_call", "report_delivery", "take_deliveries", "take_slot", "take_token")


def upgrade() -> None:
    load_functions(op, revision, *FUNCTIONS)


def downgrade() -> None:
    load_functions(op, down_revision, *FUNCTIONS)
