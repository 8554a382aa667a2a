"""Protect a table in a migration. Each class in app/database/tables says how its table is protected.

Row-level security is forced, so it binds the table's owner too. A later migration changes rows of protected tables
within `all_rows`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from app.database.role_names import API_ROLE, WORKER_ROLE

ALL_RIGHTS = "SELECT, INSERT, UPDATE, DELETE"


def protect_table(op: Any, table: str, api: str, visible: str) -> None:
    """Let the API's role see the rows for which `visible` holds and do `api` to them; the worker's role may do everything."""
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {table} TO {API_ROLE} USING ({visible})")
    op.execute(f"CREATE POLICY worker ON {table} TO {WORKER_ROLE} USING (true)")
    op.execute(f"GRANT {ALL_RIGHTS} ON {table} TO {WORKER_ROLE}")
    if api:
        op.execute(f"GRANT {api} ON {table} TO {API_ROLE}")


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
