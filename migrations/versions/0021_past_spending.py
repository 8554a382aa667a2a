"""What deleted runs had used stays counted."""

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import organisation_column, protect

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

FIGURES = ("input_tokens", "output_tokens", "cost_microusd")


def upgrade() -> None:
    op.create_table(
        "past_spending",
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        organisation_column(),
        sa.Column("run_began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("run_began_with", sa.Uuid(), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("asked_with", sa.Uuid(), nullable=True),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in FIGURES),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("past_spending_of_organisation", "past_spending", ["organisation_id", "run_began_at"])
    protect(op, "past_spending", "SELECT, INSERT")


def downgrade() -> None:
    """Months and keys are charged with less then."""
    op.drop_table("past_spending")
