"""The judgements that an export would have now, by what identifies each: the statements of the export, for ids alone."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from app.database.engine import Executor, translate_outages
from app.preferences.storage.training_export import EDITS, FLAGS, JUDGED, RATINGS, RUBRICS

CHOICE = "choice"
CHOICES = f"SELECT j.comparison_id, j.user_id {JUDGED}"
OWN_CHOICES = "SELECT comparison_id, user_id FROM choices WHERE user_id = $1 ORDER BY comparison_id"
# Each kind under the word that its pseudonyms are made with; the columns are in the order in which they are said.
SINCE: Mapping[str, str] = {
    "rating": f"SELECT e.run_id, e.user_id FROM ({RATINGS}) AS e",
    "flag": f"SELECT e.run_id, e.claim, e.user_id FROM ({FLAGS}) AS e",
    "edit": f"SELECT e.id FROM ({EDITS}) AS e",
    "rubric": f"SELECT e.run_id FROM ({RUBRICS}) AS e",
}


async def list_exportable(
    database: asyncpg.Pool, since: datetime, now: datetime, changeable: timedelta
) -> list[tuple[str, tuple[object, ...]]]:
    """Return, at one moment, the kind and the ids of each judgement made since that an export would have."""
    async with (
        translate_outages(),
        database.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        found = {CHOICE: await connection.fetch(CHOICES, since, now, changeable)}
        found |= {kind: await connection.fetch(statement, since) for kind, statement in SINCE.items()}
    return [(kind, tuple(row)) for kind, rows in found.items() for row in rows]


async def list_choices_of(database: Executor, user: UUID) -> Sequence[tuple[object, ...]]:
    """Return what identifies each choice that a person made, as far as it is shown."""
    async with translate_outages():
        return [tuple(row) for row in await database.fetch(OWN_CHOICES, user)]
