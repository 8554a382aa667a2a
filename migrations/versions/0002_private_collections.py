"""Who may not use a collection reads of its documents what reports quote, and nothing else.

A source of a run is `own` unless it is known to be open to everybody. Runs that took over the evidence of another are noted to
have searched its collections.
"""

import sqlalchemy as sa
from alembic import op

from migrations.functions import load_functions
from migrations.tenancy import all_rows, show_rows

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

OWN = "organisation_id = (SELECT current_organisation())"
OF_RUN = "EXISTS (SELECT FROM runs WHERE runs.id = {0}.run_id)"
EVIDENCE = OF_RUN + " AND may_read_evidence({0}.run_id)"
EVIDENCE_BESIDES = OF_RUN + " AND ({1} OR may_read_evidence({0}.run_id))"
VISIBLE = {
    "candidates": f"{OWN} AND EXISTS (SELECT FROM comparisons p WHERE p.id = candidates.comparison_id)",
    "comparisons": f"{OWN} AND may_read_evidence(run_id)",
    "report_tasks": EVIDENCE_BESIDES.format("report_tasks", "report_tasks.kind <> 'question'"),
    "reports": "EXISTS (SELECT FROM runs r WHERE r.id = reports.run_id AND (r.made_for IS NULL OR may_read_evidence(r.id)))",
    "run_sources": OWN
    + " AND (NOT own OR may_read_evidence(run_id) OR EXISTS ("
    + "SELECT FROM collection_documents d WHERE d.snapshot = run_sources.hash AND d.deleted_at IS NULL))",
    "stages": EVIDENCE_BESIDES.format("stages", "stages.stage IN ('plan', 'report')"),
    "tool_calls": EVIDENCE.format("tool_calls"),
    "turns": EVIDENCE.format("turns"),
}
VISIBLE_BEFORE = {
    **dict.fromkeys(("candidates", "comparisons", "run_sources"), OWN),
    **{table: OF_RUN.format(table) for table in ("report_tasks", "reports", "stages", "tool_calls", "turns")},
}
OPEN_SOURCES = """
    UPDATE run_sources s SET own = false WHERE NOT EXISTS (
        SELECT FROM collection_documents d WHERE d.organisation_id = s.organisation_id AND d.snapshot = s.hash)"""
TAKEN_OVER = """
    WITH RECURSIVE came_of AS (
        SELECT collection_id, run_id, organisation_id FROM collection_runs
        UNION SELECT c.collection_id, r.id, c.organisation_id FROM came_of c JOIN runs r ON r.organisation_id = c.organisation_id
            AND c.run_id::text IN (r.made_for::text, r.query->>'evidence_of', r.query->>'refreshes'))
    INSERT INTO collection_runs (collection_id, run_id, organisation_id) SELECT * FROM came_of ON CONFLICT DO NOTHING"""
CLOSE_STAGE = "close_stage(uuid, text, integer, bytea, text[], bytea[], json{})"


def upgrade() -> None:
    op.add_column("run_sources", sa.Column("own", sa.Boolean(), server_default=sa.text("true"), nullable=False))
    with all_rows(op, "collection_documents", "collection_runs", "run_sources", "runs"):
        op.execute(OPEN_SOURCES)
        op.execute(TAKEN_OVER)
    op.execute(f"DROP FUNCTION {CLOSE_STAGE.format('')}")
    load_functions(op, revision, "may_read_evidence", "close_stage", "create_candidate")
    for table, visible in VISIBLE.items():
        show_rows(op, table, visible)


def downgrade() -> None:
    """That runs took over the evidence of others stays noted."""
    for table, visible in VISIBLE_BEFORE.items():
        show_rows(op, table, visible)
    op.execute(f"DROP FUNCTION {CLOSE_STAGE.format(', text[]')}")
    op.execute("DROP FUNCTION may_read_evidence(uuid)")
    load_functions(op, "0001", "close_stage", "create_candidate")
    op.drop_column("run_sources", "own")
