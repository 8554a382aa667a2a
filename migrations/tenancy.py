"""How a migration protects a table. Every table is protected by exactly one of these; a test looks for one that is not.

Row-level security is forced, so a table's owner is held to it too: a later migration that changes rows of a protected table turns
that off first (`ALTER TABLE ... NO FORCE ROW LEVEL SECURITY`) and on again at its end, in its transaction.
"""

from typing import Any

import sqlalchemy as sa

from app.database.role_names import API_ROLE, WORKER_ROLE

ALL = "SELECT, INSERT, UPDATE, DELETE"
# In a subquery, asked once a statement: the planner takes it for a value it has yet to learn. In place it would be looked up
# while a read that brings its organisation along is planned, be nothing then, and the plan one for no rows at all.
OWN = "organisation_id = (SELECT current_organisation())"


def organisation_column() -> sa.Column[Any]:
    """The column by which `protect` tells tenants apart. An insert through a `TenantDatabase` need not name it."""
    return sa.Column(
        "organisation_id",
        sa.Uuid(),
        sa.ForeignKey("organisations.id", ondelete="CASCADE"),
        server_default=sa.text("current_organisation()"),
        nullable=False,
    )


def protect(op: Any, table: str, api: str = ALL, visible: str = OWN) -> None:
    """The API's role sees the rows of its organisation and may do `api` to them; the worker's sees all. `visible` tells which."""
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {table} TO {API_ROLE} USING ({visible})")
    op.execute(f"CREATE POLICY worker ON {table} TO {WORKER_ROLE} USING (true)")
    op.execute(f"GRANT {ALL} ON {table} TO {WORKER_ROLE}")
    if api:
        op.execute(f"GRANT {api} ON {table} TO {API_ROLE}")


def protect_by_run(op: Any, table: str, api: str = "SELECT") -> None:
    """For rows that belong to a run (`run_id`): who sees the run sees them. The policy asks `runs`, whose own holds there."""
    protect(op, table, api, f"EXISTS (SELECT FROM runs WHERE runs.id = {table}.run_id)")


def for_worker_only(op: Any, table: str) -> None:
    """For a table that no request reads."""
    protect(op, table, "", "false")


def unprotect(op: Any, table: str) -> None:
    """Take `protect` back. Dropping the table does so too."""
    for policy in ("tenant", "worker"):
        op.execute(f"DROP POLICY {policy} ON {table}")
    op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    op.execute(f"REVOKE ALL ON {table} FROM {API_ROLE}, {WORKER_ROLE}")
