"""What a client of OpenAI's Responses API gave along with a question."""

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import protect_table

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

OF_RUN = "EXISTS (SELECT FROM runs WHERE runs.id = response_details.run_id)"


def upgrade() -> None:
    op.create_table(
        "response_details",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("previous_id", sa.Uuid(), nullable=True),
        sa.Column("retrievable", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("response_details_of_run", "response_details", ["run_id"])
    protect_table(op, "response_details", "SELECT, INSERT", OF_RUN)


def downgrade() -> None:
    op.drop_table("response_details")
