"""All tables, functions and policies."""

from pathlib import Path

from alembic import op

from app.database.role_names import API_ROLE, WORKER_ROLE
from app.database.roles import ENSURE_ROLE
from migrations.functions import load_functions, run_script
from migrations.tenancy import ALL_RIGHTS, protect_table

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = Path(__file__).with_suffix(".sql")
FUNCTIONS = (
    *("append_event", "begin_call", "budget_allows", "close_stage", "create_candidate", "create_run", "finish_call", "halt_of"),
    *("is_capped", "may_use", "open_stage", "put_secret_aside", "report_delivery", "reserve", "set_status", "store_turn"),
    *("store_turns", "sweep_outside", "take_deliveries", "take_slot", "take_token", "tell", "tell_of_changes", "tell_of_status"),
    *("tell_webhooks", "write_event"),
)
OWN = "organisation_id = (SELECT current_organisation())"
OF_RUN = "EXISTS (SELECT FROM runs WHERE runs.id = {}.run_id)"
# What the API's role may do to rows of its organisation.
OWN_ROWS = {
    "annotation_tasks": ALL_RIGHTS,
    "api_keys": "INSERT, UPDATE (name, revoked_at), DELETE, SELECT (id, organisation_id, user_id, name, scopes, created_at, "
    "expires_at, revoked_at, last_used_at, made_by)",
    "assignments": ALL_RIGHTS,
    "audit": "SELECT, INSERT",
    "candidates": ALL_RIGHTS,
    "choices": ALL_RIGHTS,
    "claim_flags": ALL_RIGHTS,
    "collection_runs": "SELECT, INSERT",
    "comparisons": ALL_RIGHTS,
    "deliveries": "SELECT",
    "drafts": "SELECT, INSERT",
    "idempotency_keys": ALL_RIGHTS,
    "invitations": "INSERT, DELETE, SELECT (id, organisation_id, email, role, invited_by, created_at, expires_at)",
    "memberships": ALL_RIGHTS,
    "organisation_consents": ALL_RIGHTS,
    "past_spending": "SELECT, INSERT",
    "person_consents": ALL_RIGHTS,
    "quotas": "SELECT, INSERT, UPDATE",
    "ratings": ALL_RIGHTS,
    "report_shares": "INSERT, UPDATE (revoked_at), SELECT (id, organisation_id, run_id, version, created_at, expires_at, "
    "revoked_at, last_read_at)",
    "retentions": "SELECT, INSERT, UPDATE",
    "run_sources": "SELECT",
    "runs": ALL_RIGHTS,
    "schedule_firings": "SELECT",
    "schedules": ALL_RIGHTS,
    "sessions": "DELETE, SELECT (organisation_id, user_id, created_at, seen_at, expires_at)",
    "unsubscribes": "SELECT",
    "viewings": ALL_RIGHTS,
    "webhook_deliveries": "SELECT, INSERT, UPDATE",
    "webhooks": "DELETE, INSERT, UPDATE (url, description, events, secret, enabled, disabled_reason, failing_since), "
    "SELECT (id, organisation_id, url, description, events, enabled, disabled_reason, failing_since, created_at)",
    "writer_defaults": ALL_RIGHTS,
}
# What it may do to rows of a run that it sees.
ROWS_OF_RUNS = {
    "events": "SELECT, INSERT",
    "ledgers": "SELECT, INSERT, UPDATE",
    "notes": "SELECT, INSERT",
    "report_tasks": "SELECT, INSERT",
    "report_versions": "SELECT, INSERT",
    "reports": "SELECT",
    "response_details": "SELECT, INSERT",
    "run_rubrics": "SELECT, INSERT, UPDATE",
    "stages": "SELECT, INSERT",
    "tool_calls": "SELECT",
    "turns": "SELECT",
}
OTHERS = {
    "collections": (ALL_RIGHTS, "may_use(collections)"),
    "collection_documents": (ALL_RIGHTS, "EXISTS (SELECT FROM collections c WHERE c.id = collection_documents.collection_id)"),
    "organisations": ("SELECT, UPDATE", "id = current_organisation()"),
    "snapshots": ("SELECT", "EXISTS (SELECT FROM run_sources s WHERE s.hash = snapshots.hash)"),
    # Hashes of passwords are read by the sign-in only, which happens before anybody is known.
    "users": (
        "SELECT (id, email, name, created_at, verified_at)",
        "EXISTS (SELECT FROM memberships m WHERE m.user_id = users.id)",
    ),
}
WORKERS = (
    *("address_tokens", "fleet_questions", "fleets", "identities", "oidc_flows", "outside_counts", "outside_limits"),
    *("outside_results", "outside_texts", "rate_buckets"),
)


def upgrade() -> None:
    for role in (API_ROLE, WORKER_ROLE):
        op.execute(ENSURE_ROLE.format(role=role))
    load_functions(op, revision, "current_organisation")
    run_script(op, TABLES)
    load_functions(op, revision, *FUNCTIONS)
    for table, api in OWN_ROWS.items():
        protect_table(op, table, api, OWN)
    for table, api in ROWS_OF_RUNS.items():
        protect_table(op, table, api, OF_RUN.format(table))
    for table, (api, visible) in OTHERS.items():
        protect_table(op, table, api, visible)
    for table in WORKERS:
        protect_table(op, table, "", "false")
    op.execute(f"GRANT SELECT ON alembic_version TO {API_ROLE}, {WORKER_ROLE}")
    # From which revision on programs can work with this schema (app/database/schema.py).
    op.execute("COMMENT ON TABLE alembic_version IS 'for programs from revision 0001 on'")


def downgrade() -> None:
    """The roles stay: other databases of the server may use them."""
    op.execute(f"REVOKE ALL ON alembic_version FROM {API_ROLE}, {WORKER_ROLE}")
    for table in (*OWN_ROWS, *ROWS_OF_RUNS, *OTHERS, *WORKERS):
        op.execute(f"DROP TABLE {table} CASCADE")
    for name in ("current_organisation", *FUNCTIONS):
        op.execute(f"DROP FUNCTION IF EXISTS {name} CASCADE")
