"""Make SQL functions in a migration. Each has a file of its name in `migrations/sql`, which also makes the trigger that calls it.

A file holds the newest form of its function. A migration that changes a function edits the file and loads it again; where the
arguments or the answer change, the migration drops the function first.
"""

from pathlib import Path
from typing import Any

SQL = Path(__file__).parent / "sql"


def load_functions(op: Any, *names: str) -> None:
    """Make these functions, or replace them by their newest form."""
    # A body may name columns and functions that come after it.
    op.execute("SET LOCAL check_function_bodies = off")
    for name in names:
        run_script(op, SQL / f"{name}.sql")


def run_script(op: Any, path: Path) -> None:
    """Run a file's statements unchanged. Alembic would run one statement at a time, and take `:name` in it for a parameter."""
    script = path.read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))
