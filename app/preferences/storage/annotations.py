"""Annotation: the pairs, how many people judge each, who judges which, and the answers."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.domain.writer import ReportLineage
from app.preferences.nouns.feedback import CandidatePlace, Choice, PairOutcome, Viewing

ADD = """
    INSERT INTO annotation_tasks (comparison_id, overlap, gold, created_by)
    SELECT c.id, $2, $3, $4 FROM comparisons c WHERE c.id = $1 AND c.failure = ''
      AND EXISTS (SELECT FROM candidates WHERE comparison_id = c.id)
    ON CONFLICT (comparison_id) DO UPDATE SET overlap = excluded.overlap, gold = excluded.gold RETURNING comparison_id"""
# A place is taken by an answer and by an assignment that still may bring one; a pair passed over or left to lapse is free again.
TAKEN = """
    (SELECT count(*) FROM assignments a WHERE a.comparison_id = t.comparison_id AND a.skipped IS NULL
       AND (a.finished_at IS NOT NULL OR now() BETWEEN a.assigned_at AND a.expires_at))"""
TASKS = f"""
    SELECT t.comparison_id, t.overlap, t.gold IS NOT NULL AS gold, t.created_at, {TAKEN} AS taken,
           (SELECT count(*) FROM choices c WHERE c.comparison_id = t.comparison_id AND c.annotation) AS answered,
           (SELECT count(*) FROM assignments a WHERE a.comparison_id = t.comparison_id AND a.skipped IS NOT NULL) AS skipped
    FROM annotation_tasks t
    WHERE $1::uuid IS NULL OR (t.created_at, t.comparison_id) < (SELECT created_at, comparison_id FROM annotation_tasks
                                                                  WHERE comparison_id = $1)
    ORDER BY t.created_at DESC, t.comparison_id DESC LIMIT $2"""
ASSIGNMENT = "id, comparison_id, expires_at, finished_at"
OPEN = f"""
    SELECT {ASSIGNMENT} FROM assignments a
    WHERE user_id = $1 AND finished_at IS NULL AND now() BETWEEN assigned_at AND expires_at
      AND EXISTS (SELECT FROM comparisons p WHERE p.id = a.comparison_id AND p.failure = '') ORDER BY assigned_at LIMIT 1"""
GET = f"SELECT {ASSIGNMENT} FROM assignments WHERE id = $1 AND user_id = $2"
IS_ASSIGNED = "SELECT EXISTS (SELECT FROM assignments WHERE comparison_id = $1 AND user_id = $2)"
# Nobody judges an answer to an own question, nor a pair they have seen before.
ELIGIBLE = f"""
    SELECT t.comparison_id, t.gold IS NOT NULL AS gold,
           d.lineage::text AS delivered_lineage, a.lineage::text AS alternative_lineage,
           count(c.*) FILTER (WHERE c.outcome = 'delivered') AS delivered,
           count(c.*) FILTER (WHERE c.outcome = 'alternative') AS alternative,
           count(c.*) FILTER (WHERE c.outcome IN ('tie', 'both_bad')) AS ties
    FROM annotation_tasks t JOIN comparisons p ON p.id = t.comparison_id JOIN runs r ON r.id = p.run_id
        JOIN candidates d ON d.comparison_id = t.comparison_id AND d.place = 'delivered'
        JOIN candidates a ON a.comparison_id = t.comparison_id AND a.place = 'alternative'
        LEFT JOIN choices c ON c.comparison_id = t.comparison_id
    WHERE r.created_by IS DISTINCT FROM $1 AND p.created_by IS DISTINCT FROM $1 AND p.failure = ''
      AND NOT EXISTS (SELECT FROM assignments s WHERE s.comparison_id = t.comparison_id AND s.user_id = $1)
      AND NOT EXISTS (SELECT FROM viewings v WHERE v.comparison_id = t.comparison_id AND v.user_id = $1)
      AND (t.gold IS NOT NULL OR {TAKEN} < t.overlap)
    GROUP BY t.comparison_id, t.gold, t.created_at, d.lineage::text, a.lineage::text ORDER BY t.created_at, t.comparison_id"""
LOCK = "SELECT FROM annotation_tasks WHERE comparison_id = $1 FOR UPDATE"
ASSIGN = f"""
    INSERT INTO assignments (id, comparison_id, user_id, expires_at)
    SELECT $1, t.comparison_id, $3, now() + $4::interval FROM annotation_tasks t
    WHERE t.comparison_id = $2 AND (t.gold IS NOT NULL OR {TAKEN} < t.overlap)
    ON CONFLICT DO NOTHING RETURNING {ASSIGNMENT}"""
FINISH = """
    UPDATE assignments SET finished_at = now(), skipped = $3
    WHERE id = $1 AND user_id = $2 AND finished_at IS NULL RETURNING id"""
ANSWERS = """
    SELECT c.comparison_id, c.user_id, c.choice, c.outcome, v.left_place, v.first_viewed_at, t.gold
    FROM choices c JOIN viewings v ON v.comparison_id = c.comparison_id AND v.user_id = c.user_id
        JOIN annotation_tasks t ON t.comparison_id = c.comparison_id
    WHERE c.annotation ORDER BY c.comparison_id, c.user_id"""


class AnnotationTask(NamedTuple):
    """A pair to be judged and how far that is. `taken`: answered or being judged now."""

    comparison_id: UUID
    overlap: int
    gold: bool
    created_at: datetime
    taken: int
    answered: int
    skipped: int


class Assignment(NamedTuple):
    """A pair given to one annotator."""

    id: UUID
    comparison_id: UUID
    expires_at: datetime
    finished_at: datetime | None


class OpenPair(NamedTuple):
    """A pair that one annotator may be given, with all votes on it so far."""

    comparison_id: UUID
    gold: bool
    ways: dict[CandidatePlace, str]
    delivered: int
    alternative: int
    ties: int


class AnnotatorAnswer(NamedTuple):
    """An annotator's answer, and the right one where the pair has one."""

    comparison_id: UUID
    user_id: UUID
    choice: Choice
    outcome: PairOutcome
    viewing: Viewing
    gold: PairOutcome | None


async def add(database: Executor, comparison_id: UUID, overlap: int, gold: PairOutcome | None, user_id: UUID) -> bool:
    """Have a pair judged by `overlap` annotators, or change how; False when there are no two reports to judge."""
    async with translate_outages():
        return await database.fetchval(ADD, comparison_id, overlap, gold, user_id) is not None


async def list_tasks(database: Executor, before: UUID | None, limit: int) -> Sequence[AnnotationTask]:
    """List pairs to be judged, newest first."""
    async with translate_outages():
        return [AnnotationTask(**dict(row)) for row in await database.fetch(TASKS, before, limit)]


async def get_current(database: Executor, user_id: UUID) -> Assignment | None:
    """Return what this annotator is judging now."""
    async with translate_outages():
        row = await database.fetchrow(OPEN, user_id)
    return Assignment(**dict(row)) if row else None


async def get(database: Executor, id_: UUID, user_id: UUID) -> Assignment | None:
    """Return one of this annotator's assignments, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, id_, user_id)
    return Assignment(**dict(row)) if row else None


async def is_assigned(database: Executor, comparison_id: UUID, user_id: UUID) -> bool:
    """Say whether this person was ever given the pair as an annotator."""
    async with translate_outages():
        return bool(await database.fetchval(IS_ASSIGNED, comparison_id, user_id))


async def list_eligible(database: Executor, user_id: UUID) -> Sequence[OpenPair]:
    """Return all pairs that this annotator may be given, oldest first."""
    async with translate_outages():
        return [_open_pair_of(row) for row in await database.fetch(ELIGIBLE, user_id)]


async def assign(transaction: Executor, id_: UUID, comparison_id: UUID, user_id: UUID, lasts: timedelta) -> Assignment | None:
    """Give a pair to an annotator for so long; None when others took its last place. Two statements of one transaction."""
    async with translate_outages():
        await transaction.fetch(LOCK, comparison_id)
        row = await transaction.fetchrow(ASSIGN, id_, comparison_id, user_id, lasts)
    return Assignment(**dict(row)) if row else None


async def finish(database: Executor, id_: UUID, user_id: UUID, skipped: str | None = None) -> bool:
    """Close an assignment; `skipped` says why it has no answer. False when it is closed already."""
    async with translate_outages():
        return await database.fetchval(FINISH, id_, user_id, skipped) is not None


async def list_answers(database: Executor) -> list[AnnotatorAnswer]:
    """Return all answers of annotators."""
    async with translate_outages():
        return [_answer_of(row) for row in await database.fetch(ANSWERS)]


def _open_pair_of(row: Record) -> OpenPair:
    ways = {place: ReportLineage.of_any_version(row[f"{place}_lineage"]).way for place in CandidatePlace}
    return OpenPair(row["comparison_id"], row["gold"], ways, row["delivered"], row["alternative"], row["ties"])


def _answer_of(row: Record) -> AnnotatorAnswer:
    viewing = Viewing(left=CandidatePlace(row["left_place"]), first_viewed_at=row["first_viewed_at"])
    gold = PairOutcome(row["gold"]) if row["gold"] else None
    choice = Choice.of_any_version(row["choice"])
    return AnnotatorAnswer(row["comparison_id"], row["user_id"], choice, PairOutcome(row["outcome"]), viewing, gold)
