"""Protect a table in a migration. Each class in app/database/tables says how its table is protected.

Row-level security is forced, so it binds the table's owner too. A later migration changes rows of protected tables
within `all_rows`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from app.database.role_names import API_ROLE, WORKER_ROLE

ALL_RIGHTS = "SELECT, INSERT, UPDATE, DELETE"


def protect_table(op: Any, table: str, api: str, visible: str, added: str = "", changed: str = "") -> None:
    """Let the API's role see the rows for which `visible` holds and do `api` to them; the worker's role may do everything.

    `added` holds of each row that the API's role adds, and `changed` of each that it has changed; empty: anything.
    """
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {table} TO {API_ROLE} USING ({visible})")
    op.execute(f"CREATE POLICY worker ON {table} TO {WORKER_ROLE} USING (true)")
    op.execute(f"GRANT {ALL_RIGHTS} ON {table} TO {WORKER_ROLE}")
    if api:
        op.execute(f"GRANT {api} ON {table} TO {API_ROLE}")
    check_rows(op, table, added, changed)


def check_rows(op: Any, table: str, added: str = "", changed: str = "") -> None:
    """Let the API's role add only rows for which `added` holds, and change rows only so that `changed` holds then."""
    if added:
        op.execute(f"CREATE POLICY added ON {table} AS RESTRICTIVE FOR INSERT TO {API_ROLE} WITH CHECK ({added})")
    if changed:
        op.execute(
            f"CREATE POLICY changed ON {table} AS RESTRICTIVE FOR UPDATE TO {API_ROLE} USING (true) WITH CHECK ({changed})"
        )


def show_rows(op: Any, table: str, visible: str) -> None:
    """Change to which rows of a protected table the API's role is held."""
    op.execute(f"ALTER POLICY tenant ON {table} USING ({visible})")


@contextmanager
def all_rows(op: Any, *tables: str) -> Iterator[None]:
    """Let the tables' owner see their rows for the time being, to change them."""
    for table in tables:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    yield
    for table in tables:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
