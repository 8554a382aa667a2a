"""Turns that end together are stored by a few statements for all of them, where it was a dozen for each."""

from pathlib import Path

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

FUNCTION = Path(__file__).parents[1] / "sql" / "0025_store_turns.sql"


def upgrade() -> None:
    script = FUNCTION.read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))  # type: ignore[union-attr]


def downgrade() -> None:
    op.execute("DROP FUNCTION store_turns")
