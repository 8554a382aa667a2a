"""The judgements that an export would have now, by what identifies each: the statements of the export, for ids alone."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import asyncpg

from app.database.engine import translate_outages
from app.preferences.storage.training_export import EDITS, FLAGS, JUDGED, RATINGS, RUBRICS

CHOICES = f"SELECT j.comparison_id, j.user_id {JUDGED}"
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
        found = {"choice": await connection.fetch(CHOICES, since, now, changeable)}
        found |= {kind: await connection.fetch(statement, since) for kind, statement in SINCE.items()}
    return [(kind, tuple(row)) for kind, rows in found.items() for row in rows]
