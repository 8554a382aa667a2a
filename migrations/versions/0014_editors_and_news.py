"""Who edited a run's rubric is kept; what a schedule found is told to webhooks at once."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

# Number 0 is of no event: whoever listens looks at what waits for webhooks, and at nothing else.
TELL = """
    CREATE OR REPLACE FUNCTION tell_of_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF to_regprocedure('tell_webhooks(uuid, text, jsonb)') IS NOT NULL THEN
            PERFORM tell_webhooks(NEW.organisation_id, 'schedule.changed', jsonb_build_object(
                'schedule_id', NEW.schedule_id, 'due_at', NEW.due_at, 'run_id', NEW.run_id, 'baseline_id', NEW.baseline_id));
            {wake}
        END IF;
        RETURN NULL;
    END
    $$"""
WAKE = r"PERFORM pg_notify('rubrica_events', NEW.schedule_id || '\:0');"


def upgrade() -> None:
    op.execute(TELL.format(wake=WAKE))
    person = sa.ForeignKey("users.id", ondelete="SET NULL")
    op.add_column("run_rubrics", sa.Column("edited_by", sa.Uuid(), person, nullable=True))
    op.create_index("run_rubrics_of_editor", "run_rubrics", ["edited_by"])


def downgrade() -> None:
    op.execute(TELL.format(wake=""))
    op.drop_column("run_rubrics", "edited_by")
