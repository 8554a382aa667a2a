"""Make SQL functions in a migration. `migrations/sql/<function>/<revision>.sql` is a form of one, with the trigger that calls it.

A form is never edited: a migration that changes a function brings a file with its own number, and loads the form before it on its
way back. Where the arguments or the answer change, the migration drops the function first.
"""

from pathlib import Path
from typing import Any

SQL = Path(__file__).parent / "sql"


def load_functions(op: Any, revision: str, *names: str) -> None:
    """Make these functions, or replace them by the form that they have at a revision."""
    # A body may name columns and functions that come after it.
    op.execute("SET LOCAL check_function_bodies = off")
    for name in names:
        run_script(op, form_of(name, revision))


def form_of(name: str, revision: str) -> Path:
    """Return the file of the form that a function has at a revision: the newest one up to it."""
    return max(path for path in (SQL / name).glob("*.sql") if path.stem <= revision)


def functions_at(revision: str) -> list[str]:
    """Return the names of all functions that there are at a revision, and that no later migration has dropped."""
    return sorted(folder.name for folder in SQL.iterdir() if any(path.stem <= revision for path in folder.glob("*.sql")))


def run_script(op: Any, path: Path) -> None:
    """Run a file's statements unchanged. Alembic would run one statement at a time, and take `:name` in it for a parameter."""
    script = path.read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))
