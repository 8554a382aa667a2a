"""A turn writes its stage only when a reservation changes."""

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

FUNCTION = Path(__file__).parents[1] / "sql" / "0003_lighter_turns.sql"


def upgrade() -> None:
    script = FUNCTION.read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))  # type: ignore[union-attr]


def downgrade() -> None:
    """The function answers the code before it just the same, so it stays."""
