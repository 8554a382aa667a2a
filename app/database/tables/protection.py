"""The rows of a table that the API's role sees, and what it may do to them; this is declared beside the table's columns.

Row-level security enforces it (ADR 0032). A migration repeats what is declared here, and a test compares the two.
The worker's role sees and may do everything. A table that says nothing shows the rows of the organisation that is acted for.

A row that the API adds names, as its person and its key, only those that act. This follows from the columns: no table says it.
"""

import re
from typing import Any, NamedTuple

from sqlalchemy import Column, Table

from app.database.tables.columns import ACTING_KEY, ACTING_USER

ALL = "SELECT, INSERT, UPDATE, DELETE"
# In a subquery, asked once a statement: the planner takes it for a value it has yet to learn. In place it would be looked up
# while a read that brings its organisation along is planned, be nothing then, and the plan one for no rows at all.
OWN = "organisation_id = (SELECT current_organisation())"
USER, KEY = str(ACTING_USER["server_default"]), str(ACTING_KEY["server_default"])
GRANTED_WHOLE = "{}(?! \\()"


class Protection(NamedTuple):
    """All in SQL: `api` lists what the API's role may do, and `visible` tells to which rows.

    `added` and `changed` tell what holds of a row as the API adds it, and as it is when the API has changed it; empty: anything.
    """

    api: str
    visible: str
    added: str = ""
    changed: str = ""


def own_rows(api: str = ALL, added: str = "", changed: str = "") -> dict[str, Any]:
    """Show the API the rows of the organisation that is acted for."""
    return visible_rows(OWN, api, added, changed)


def rows_of_visible_runs(api: str = "SELECT") -> dict[str, Any]:
    """Show rows that belong to a run (`run_id`) to those who see the run. The policy asks `runs`, whose own holds there."""
    return visible_rows("EXISTS (SELECT FROM runs WHERE runs.id = {table}.run_id)", api)


def evidence_of_visible_runs(api: str = "SELECT", besides: str = "") -> dict[str, Any]:
    """Show what a run gathered to those who see the run and may use, now, every collection that it came of.

    Rows for which `besides` holds repeat nothing of it: they are shown to everybody who sees the run.
    """
    readable = "may_read_evidence({table}.run_id)"
    seen = "EXISTS (SELECT FROM runs WHERE runs.id = {table}.run_id)"
    return visible_rows(f"{seen} AND ({besides} OR {readable})" if besides else f"{seen} AND {readable}", api)


def for_worker_only() -> dict[str, Any]:
    """Show rows to no request."""
    return visible_rows("false", "")


def visible_rows(visible: str, api: str, added: str = "", changed: str = "") -> dict[str, Any]:
    """Show rows for which `visible` holds; `{table}` stands for the table's name. The answer goes into `__table_args__`."""
    return {"info": {"protection": Protection(api, visible, added, changed)}}


def protection_of(table: Table) -> Protection:
    """Return what a table says of its protection, and what follows from its columns where it says nothing."""
    api, visible, added, changed = table.info.get("protection", Protection(ALL, OWN))
    actors = {column.name: actor for column in table.columns if (actor := _actor_in(column))}
    if re.search(GRANTED_WHOLE.format("INSERT"), api):
        added = added or " AND ".join(f"({name} IS NULL OR {name} = {actor})" for name, actor in actors.items())
    # Whose row it is stays; who made a row is no matter of who changes it.
    if re.search(GRANTED_WHOLE.format("UPDATE"), api) and "user_id" in table.primary_key:
        changed = changed or f"user_id = {USER}"
    return Protection(api, visible.format(table=table.name), added, changed)


def _actor_in(column: Column[Any]) -> str:
    """Return the acting person or key where a column names one, in SQL; empty where it names neither."""
    if column.name == "user_id" or any(key.target_fullname == "users.id" for key in column.foreign_keys):
        return USER
    return KEY if str(getattr(column.server_default, "arg", "")) == KEY else ""
