"""Fleets: a system over a data set of questions. Their runs are in no list of runs, and webhooks are not told of each."""

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import for_worker_only, organisation_column

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
ACTING_USER = sa.text("nullif(current_setting('rubrica.user', true), '')::uuid")
NONE_YET = {"server_default": sa.text("0"), "nullable": False}
ASKED_BY_PEOPLE = sa.text("made_for IS NULL AND fleet_id IS NULL")
TRIGGER = """
    CREATE TRIGGER runs_tell_of_status AFTER UPDATE OF status ON runs FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.status <> 'queued' AND NEW.made_for IS NULL{also})
    EXECUTE FUNCTION tell_of_status()"""


def upgrade() -> None:
    op.create_table(
        "fleets",
        sa.Column("id", sa.Uuid(), nullable=False),
        organisation_column(),
        sa.Column("at_once", sa.Integer(), nullable=False),
        sa.Column("wish", sa.Text(), server_default="go", nullable=False),
        sa.Column("gathered", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("questions", sa.BigInteger(), **NONE_YET),
        sa.Column("ended", sa.BigInteger(), **NONE_YET),
        sa.Column("revision", sa.BigInteger(), **NONE_YET),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("created_by", sa.Uuid(), sa.ForeignKey("users.id", ondelete="SET NULL"), server_default=ACTING_USER),
        sa.Column("created_at", TIME, server_default=sa.func.now(), nullable=False),
        sa.Column("ended_at", TIME, nullable=True),
        sa.CheckConstraint("wish IN ('go', 'pause', 'cancel')", name="fleets_wish"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("fleets_unfinished", "fleets", ["id"], postgresql_where=sa.text("ended_at IS NULL"))
    fleet = sa.ForeignKey("fleets.id", ondelete="CASCADE")
    op.add_column("runs", sa.Column("fleet_id", sa.Uuid(), fleet, nullable=True))
    op.create_index("runs_of_fleet", "runs", ["fleet_id"], postgresql_where=sa.text("fleet_id IS NOT NULL"))
    newest_first = ["organisation_id", sa.text("created_at DESC"), sa.text("id DESC")]
    op.create_index("runs_listed", "runs", newest_first, postgresql_where=ASKED_BY_PEOPLE)
    _add_questions()
    for table in ("fleets", "fleet_questions"):
        for_worker_only(op, table)
    _tell(" AND NEW.fleet_id IS NULL")


def _add_questions() -> None:
    op.create_table(
        "fleet_questions",
        sa.Column("fleet_id", sa.Uuid(), sa.ForeignKey("fleets.id", ondelete="CASCADE"), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        organisation_column(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("query", sa.JSON(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("number", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.UniqueConstraint("fleet_id", "name", name="fleet_questions_once"),
        sa.PrimaryKeyConstraint("fleet_id", "position"),
    )
    for name, column, of in (
        ("waiting", "position", "run_id IS NULL AND number IS NULL"),
        ("under_way", "run_id", "run_id IS NOT NULL AND number IS NULL"),
        ("ended", "number", "number IS NOT NULL"),
    ):
        op.create_index(f"fleet_questions_{name}", "fleet_questions", ["fleet_id", column], postgresql_where=sa.text(of))


def _tell(also: str) -> None:
    op.execute("DROP TRIGGER runs_tell_of_status ON runs")
    op.execute(TRIGGER.format(also=also))


def downgrade() -> None:
    _tell("")
    op.drop_index("runs_listed", table_name="runs")
    op.drop_index("runs_of_fleet", table_name="runs")
    op.drop_column("runs", "fleet_id")
    op.drop_table("fleet_questions")
    op.drop_table("fleets")
