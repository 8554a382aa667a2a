"""Webhooks are not told of runs made on behalf of another: a comparison's second report is no news, and must stay blind."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

TRIGGER = """
    CREATE TRIGGER runs_tell_of_status AFTER UPDATE OF status ON runs FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.status <> 'queued'{also}) EXECUTE FUNCTION tell_of_status()"""


def upgrade() -> None:
    op.execute("DROP TRIGGER runs_tell_of_status ON runs")
    op.execute(TRIGGER.format(also=" AND NEW.made_for IS NULL"))


def downgrade() -> None:
    op.execute("DROP TRIGGER runs_tell_of_status ON runs")
    op.execute(TRIGGER.format(also=""))
