"""The rows of a table that the API's role sees, and what it may do to them; this is declared beside the table's columns.

Row-level security enforces it (ADR 0032). A migration repeats what is declared here, and a test compares the two.
The worker's role sees and may do everything. A table that says nothing shows the rows of the organisation that is acted for.
"""

from typing import Any, NamedTuple

from sqlalchemy import Table

ALL = "SELECT, INSERT, UPDATE, DELETE"
# In a subquery, asked once a statement: the planner takes it for a value it has yet to learn. In place it would be looked up
# while a read that brings its organisation along is planned, be nothing then, and the plan one for no rows at all.
OWN = "organisation_id = (SELECT current_organisation())"


class Protection(NamedTuple):
    """Both in SQL: `api` lists what the API's role may do, and `visible` tells to which rows."""

    api: str
    visible: str


def own_rows(api: str = ALL) -> dict[str, Any]:
    """Show the API the rows of the organisation that is acted for."""
    return visible_rows(OWN, api)


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


def visible_rows(visible: str, api: str) -> dict[str, Any]:
    """Show rows for which `visible` holds; `{table}` stands for the table's name. The answer goes into `__table_args__`."""
    return {"info": {"protection": Protection(api, visible)}}


def protection_of(table: Table) -> Protection:
    """Return what a table says of its protection."""
    api, visible = table.info.get("protection", Protection(ALL, OWN))
    return Protection(api, visible.format(table=table.name))
