"""What an export made now would have to learn from, counted by question: one statement, and no report is read."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import asyncpg

from app.database.engine import translate_outages
from app.preferences.storage.training_export import JUDGED

# A reader is a person in an organisation, as in an export. All votes on the same two reports become one row of a set.
COUNTED = f"""
    SELECT question, min(asked_at) AS asked_at,
           count(*) FILTER (WHERE decided AND meant) AS pairs,
           count(DISTINCT comparison_id) FILTER (WHERE decided AND meant) AS compared,
           count(*) FILTER (WHERE NOT meant) AS quick,
           coalesce(array_agg(DISTINCT reader) FILTER (WHERE decided AND meant), '{{}}') AS readers
    FROM (SELECT r.query ->> 'question' AS question, r.created_at AS asked_at, j.comparison_id,
                 j.organisation_id::text || j.user_id::text AS reader, j.outcome IN ('delivered', 'alternative') AS decided,
                 greatest(0, j.elapsed_seconds - coalesce((j.choice ->> 'hidden_seconds')::float, 0)) >= $4 AS meant {JUDGED})
         AS judged
    GROUP BY question"""


class CountedQuestion(NamedTuple):
    """A question with its votes: those that decide and were no haste (`pairs`), over how many pairs of reports, by whom."""

    question: str
    asked_at: datetime
    pairs: int
    compared: int
    quick: int
    readers: Sequence[str]


async def count_by_question(
    database: asyncpg.Pool, since: datetime, now: datetime, changeable: timedelta, least_seconds: float
) -> list[CountedQuestion]:
    """Count the votes since then, over all organisations that the database shows."""
    async with translate_outages():
        return [CountedQuestion(*row) for row in await database.fetch(COUNTED, since, now, changeable, least_seconds)]
