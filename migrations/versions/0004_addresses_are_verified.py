"""A person's address counts once it is proved; links that prove it, or set a new password, are good once."""

import sqlalchemy as sa
from alembic import op

from app.database.role_names import API_ROLE
from migrations.tenancy import protect_table

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("users", sa.Column("verified_at", sa.DateTime(timezone=True), nullable=True))
    op.execute(f"GRANT SELECT (verified_at) ON users TO {API_ROLE}")
    op.add_column("invitations", sa.Column("mailed", sa.Boolean(), server_default="false", nullable=False))
    op.create_table(
        "address_tokens",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("purpose IN ('verify', 'reset')", name="address_tokens_purpose"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    op.create_index("address_tokens_of_user", "address_tokens", ["user_id", "purpose"])
    protect_table(op, "address_tokens", "", "false")


def downgrade() -> None:
    op.drop_table("address_tokens")
    op.drop_column("invitations", "mailed")
    op.drop_column("users", "verified_at")
