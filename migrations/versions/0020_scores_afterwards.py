"""Finished reports may be judged by a rubric that they were not asked with."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

KINDS = ("edit", "rewrite", "deepen", "question")
ONE_CHANGE, ONE_SCORING = "report_tasks_one_change", "report_tasks_one_scoring"


def upgrade() -> None:
    """A judging is no change of a version, and there is one at a time."""
    _kinds(*KINDS, "score")
    _one_change("kind IN ('edit', 'rewrite', 'deepen') AND status <> 'failed'")
    where = sa.text("kind = 'score' AND status = 'queued'")
    op.create_index(ONE_SCORING, "report_tasks", ["run_id"], unique=True, postgresql_where=where)


def downgrade() -> None:
    """The scorecards stay; that they came afterwards is forgotten."""
    op.drop_index(ONE_SCORING, table_name="report_tasks")
    op.execute("ALTER TABLE report_tasks NO FORCE ROW LEVEL SECURITY")
    op.execute("DELETE FROM report_tasks WHERE kind = 'score'")
    op.execute("ALTER TABLE report_tasks FORCE ROW LEVEL SECURITY")
    _one_change("kind <> 'question' AND status <> 'failed'")
    _kinds(*KINDS)


def _kinds(*kinds: str) -> None:
    op.drop_constraint("report_tasks_kind", "report_tasks")
    op.create_check_constraint("report_tasks_kind", "report_tasks", f"kind IN ({', '.join(map(repr, kinds))})")


def _one_change(where: str) -> None:
    op.drop_index(ONE_CHANGE, table_name="report_tasks")
    op.create_index(ONE_CHANGE, "report_tasks", ["run_id", "base"], unique=True, postgresql_where=sa.text(where))
