"""How a migration makes functions: each has a file of its name in `migrations/sql`, which also makes the trigger that calls it.

A file holds what its function is now. A migration that changes a function edits the file and loads it again; where its arguments
or its answer change, the migration drops the function first.
"""

from pathlib import Path
from typing import Any

SQL = Path(__file__).parent / "sql"


def load_functions(op: Any, *names: str) -> None:
    """Make these functions, or bring them up to date."""
    # A body may name columns and functions that come after it.
    op.execute("SET LOCAL check_function_bodies = off")
    for name in names:
        run_script(op, SQL / f"{name}.sql")


def run_script(op: Any, path: Path) -> None:
    """Run a file's statements as they stand: Alembic would take `:name` in them for a parameter, and one statement at a time."""
    script = path.read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))
