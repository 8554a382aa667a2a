"""What a stage tells is told once, and by the attempt that has the word."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql" / "0024_told_once.sql"


def upgrade() -> None:
    op.add_column("events", sa.Column("origin", sa.Text(), nullable=True))
    script = SQL.read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))  # type: ignore[union-attr]


def downgrade() -> None:
    op.execute("DROP FUNCTION tell")
    op.drop_column("events", "origin")
