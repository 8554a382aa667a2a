"""The choices of readers: one for each reader and comparison, which may be changed for a while. Votes count by way of writing."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.database.noun_columns import columns_of
from app.domain.writer import ReportLineage
from app.preferences.nouns.feedback import CandidatePlace, Choice, PairOutcome, StoredChoice

# The clock of the first choice runs from the first view; what is changed later keeps that time.
CHOOSE = f"""
    INSERT INTO choices AS c (comparison_id, user_id, choice, outcome, annotation, elapsed_seconds)
    SELECT v.comparison_id, v.user_id, $3::json, $4, $5, extract(epoch FROM clock_timestamp() - v.first_viewed_at) FROM viewings v
    WHERE v.comparison_id = $1 AND v.user_id = $2 AND v.revealed_at IS NULL
    ON CONFLICT (comparison_id, user_id) DO UPDATE
        SET choice = excluded.choice, outcome = excluded.outcome, changed_at = now(), changes = c.changes + 1
        WHERE c.made_at > now() - $6::interval AND c.annotation = excluded.annotation
    RETURNING {columns_of(StoredChoice)}"""
GET = f"SELECT {columns_of(StoredChoice)} FROM choices WHERE comparison_id = $1 AND user_id = $2"
# Pairs whose answer is known measure attention and are no votes.
TALLY = """
    SELECT d.lineage AS delivered, a.lineage AS alternative, t.outcome, t.votes, t.readers FROM (
        SELECT c.comparison_id, c.outcome, count(*) AS votes, array_agg(c.user_id) AS readers FROM choices c
        WHERE NOT EXISTS (SELECT FROM annotation_tasks k WHERE k.comparison_id = c.comparison_id AND k.gold IS NOT NULL)
        GROUP BY c.comparison_id, c.outcome
    ) t JOIN candidates d ON d.comparison_id = t.comparison_id AND d.place = 'delivered'
        JOIN candidates a ON a.comparison_id = t.comparison_id AND a.place = 'alternative'"""


class Tally(NamedTuple):
    """How often one comparison came out one way, and whose votes these were."""

    ways: dict[CandidatePlace, str]
    outcome: PairOutcome
    votes: int
    readers: Sequence[UUID]


async def choose(
    database: Executor, id_: UUID, user_id: UUID, choice: Choice, outcome: PairOutcome, annotation: bool, changeable: timedelta
) -> StoredChoice | None:
    """Store or change a reader's choice. None: not seen yet, revealed already, or no longer `changeable`."""
    async with translate_outages():
        row = await database.fetchrow(CHOOSE, id_, user_id, choice.model_dump_json(), outcome, annotation, changeable)
    return _choice_of(row) if row else None


async def get(database: Executor, id_: UUID, user_id: UUID) -> StoredChoice | None:
    """Return this reader's choice, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, id_, user_id)
    return _choice_of(row) if row else None


async def list_tallies(database: Executor) -> list[Tally]:
    """Return all votes the database shows, by comparison and outcome. Control pairs of annotators are left out."""
    async with translate_outages():
        rows = await database.fetch(TALLY)
    return [
        Tally(
            {place: _way_of(row[place.value]) for place in CandidatePlace},
            PairOutcome(row["outcome"]),
            row["votes"],
            row["readers"],
        )
        for row in rows
    ]


def _choice_of(row: Record) -> StoredChoice:
    return StoredChoice(**(dict(row) | {"choice": Choice.of_any_version(row["choice"])}))


def _way_of(lineage: str) -> str:
    return ReportLineage.of_any_version(lineage).way
