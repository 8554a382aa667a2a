"""What is sent again after its answer was lost counts once, whoever has opened the stage in between."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"


def upgrade() -> None:
    op.add_column("turns", sa.Column("attempt", sa.Integer(), nullable=True))
    op.add_column("stages", sa.Column("answered", JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False))
    _run_script("0022_sent_twice.sql")


def downgrade() -> None:
    _run_script("0003_lighter_turns.sql")
    _run_script("0022_before.sql")
    op.drop_column("stages", "answered")
    op.drop_column("turns", "attempt")


def _run_script(name: str) -> None:
    script = (SQL / name).read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))  # type: ignore[union-attr]
