"""Policies ask once a statement which organisation acts, in a subquery: what the planner takes for a value it has yet to learn.

Asked in place, the planner looked the name up beforehand, when a read that brings it along has not set it: it expected no rows at
all, and read one run by reading all runs of the organisation.
"""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

IN_PLACE, ONCE = "organisation_id = current_organisation()", "organisation_id = (SELECT current_organisation())"
# PostgreSQL's own spelling of the two.
IN_PLACE_KEPT = "(organisation_id = current_organisation())"
ONCE_KEPT = "(organisation_id = ( SELECT current_organisation() AS current_organisation))"


def upgrade() -> None:
    _reword(IN_PLACE_KEPT, ONCE)


def downgrade() -> None:
    _reword(ONCE_KEPT, IN_PLACE)


def _reword(kept: str, wanted: str) -> None:
    op.execute(f"""
        DO $$ DECLARE tenant_table text; BEGIN
            FOR tenant_table IN SELECT tablename FROM pg_policies
                WHERE schemaname = current_schema() AND policyname = 'tenant' AND qual = '{kept}'
            LOOP EXECUTE format('ALTER POLICY tenant ON %I USING ({wanted})', tenant_table); END LOOP;
        END $$""")
