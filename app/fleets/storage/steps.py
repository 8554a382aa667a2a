"""The steps of a fleet: its workflow's activity takes them in one transaction, which locks the fleet's row first."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from app.collections.storage import collections
from app.database.engine import Executor, translate_outages
from app.domain.fleets import FleetQuestion, FleetWish
from app.domain.query import ResearchQuery
from app.domain.run import RunStatus
from app.runs.storage import runs

LOCK = """
    SELECT id, organisation_id, created_by, at_once, wish, revision, detail FROM fleets
    WHERE id = $1 AND ended_at IS NULL FOR UPDATE"""
DISPATCHED = "UPDATE runs SET dispatched_at = now() WHERE id = ANY ($1::uuid[]) AND dispatched_at IS NULL"
# Numbered in the order in which the runs ended; one that was deleted meanwhile has no result.
SETTLE = """
    WITH over AS (SELECT q.position, coalesce(r.status, 'failed') AS status,
                         coalesce(r.detail, 'its run was deleted') AS detail,
                         row_number() OVER (ORDER BY r.finished_at, q.position) AS place
                  FROM fleet_questions q LEFT JOIN runs r ON r.id = q.run_id
                  WHERE q.fleet_id = $1 AND q.run_id IS NOT NULL AND q.number IS NULL
                    AND (r.id IS NULL OR r.finished_at IS NOT NULL)),
         counted AS (UPDATE fleets SET ended = ended + (SELECT count(*) FROM over) WHERE id = $1 RETURNING ended),
         before AS (SELECT ended - (SELECT count(*) FROM over) AS ended FROM counted)
    UPDATE fleet_questions q SET number = before.ended + over.place, status = over.status, detail = over.detail
    FROM over, before WHERE q.fleet_id = $1 AND q.position = over.position"""
UNDER_WAY = """
    SELECT r.id, r.status, r.dispatched_at IS NULL AS unstarted FROM fleet_questions q JOIN runs r ON r.id = q.run_id
    WHERE q.fleet_id = $1 AND q.run_id IS NOT NULL AND q.number IS NULL ORDER BY q.position"""
WAITING = """
    SELECT position, name, query FROM fleet_questions
    WHERE fleet_id = $1 AND run_id IS NULL AND number IS NULL ORDER BY position LIMIT $2"""
BEGIN = "UPDATE fleet_questions SET run_id = $3 WHERE fleet_id = $1 AND position = $2"
OF_FLEET = "UPDATE runs SET fleet_id = $2 WHERE id = $1"
# It leaves its place to the next question at once, although no run begins or ends: hence a new revision.
REFUSE = """
    WITH counted AS (UPDATE fleets SET ended = ended + 1, revision = revision + 1 WHERE id = $1 RETURNING ended)
    UPDATE fleet_questions SET number = counted.ended, status = 'failed', detail = $3 FROM counted
    WHERE fleet_id = $1 AND position = $2"""
DROP = """
    WITH left_out AS (SELECT position, row_number() OVER (ORDER BY position) AS place FROM fleet_questions
                      WHERE fleet_id = $1 AND run_id IS NULL AND number IS NULL),
         counted AS (UPDATE fleets SET ended = ended + (SELECT count(*) FROM left_out) WHERE id = $1 RETURNING ended),
         before AS (SELECT ended - (SELECT count(*) FROM left_out) AS ended FROM counted)
    UPDATE fleet_questions q SET number = before.ended + left_out.place, status = 'cancelled',
                                 detail = 'the fleet was cancelled before it began'
    FROM left_out, before WHERE q.fleet_id = $1 AND q.position = left_out.position"""
TELL = "UPDATE fleets SET detail = $2, wish = coalesce($3, wish) WHERE id = $1"
# One message for the whole of it, in the transaction that ends it; of its runs webhooks are told nothing (ADR 0031).
END = """
    WITH over AS (UPDATE fleets SET ended_at = now(), detail = ''
                  WHERE id = $1 AND ended = questions AND (gathered OR wish = 'cancel')
                  RETURNING id, organisation_id, wish, questions),
         ends AS (SELECT coalesce(jsonb_object_agg(status, n), '{}') AS by_status
                  FROM (SELECT status, count(*) AS n FROM fleet_questions WHERE fleet_id = $1 GROUP BY status) AS counted)
    SELECT true, tell_webhooks(over.organisation_id, 'fleet.ended', jsonb_build_object(
        'fleet_id', over.id, 'status', CASE over.wish WHEN 'cancel' THEN 'cancelled' ELSE 'completed' END,
        'questions', over.questions, 'by_status', ends.by_status))
    FROM over, ends"""
# What a waiting workflow looks at: whether a run needs it, and whether anybody added or wished anything.
NEWS = """
    SELECT f.revision <> $2 OR EXISTS (
        SELECT FROM fleet_questions q LEFT JOIN runs r ON r.id = q.run_id
        WHERE q.fleet_id = f.id AND q.run_id IS NOT NULL AND q.number IS NULL
          AND (r.id IS NULL OR r.finished_at IS NOT NULL OR (r.status = 'budget_reached' AND r.id <> ALL ($3::uuid[]))))
    FROM fleets f WHERE f.id = $1 AND f.ended_at IS NULL"""


class LockedFleet(NamedTuple):
    """A fleet whose row is held until the transaction ends. `user` is None where nobody's account made it."""

    id: UUID
    organisation: UUID
    user: UUID | None
    at_once: int
    wish: FleetWish
    revision: int
    detail: str


class RunUnderWay(NamedTuple):
    """A run of a fleet that has not ended. `unstarted`: no workflow was started for it yet."""

    id: UUID
    status: RunStatus
    unstarted: bool


class WaitingQuestion(NamedTuple):
    """A question that has no run yet."""

    position: int
    question: FleetQuestion


async def lock(connection: Executor, fleet: UUID) -> LockedFleet | None:
    """Take a fleet that has not ended; None without one."""
    async with translate_outages():
        row = await connection.fetchrow(LOCK, fleet)
    return LockedFleet(*row)._replace(wish=FleetWish(row["wish"])) if row else None


async def mark_dispatched(database: Executor, started: Sequence[UUID]) -> None:
    """Note that workflows were started for these runs."""
    async with translate_outages():
        await database.execute(DISPATCHED, list(started))


async def settle(connection: Executor, fleet: UUID) -> None:
    """Give every run that has ended its number."""
    async with translate_outages():
        await connection.execute(SETTLE, fleet)


async def list_under_way(connection: Executor, fleet: UUID) -> Sequence[RunUnderWay]:
    """Return the runs that have not ended, in the order of their questions."""
    async with translate_outages():
        rows = await connection.fetch(UNDER_WAY, fleet)
    return [RunUnderWay(row["id"], RunStatus(row["status"]), row["unstarted"]) for row in rows]


async def list_waiting(connection: Executor, fleet: UUID, limit: int) -> Sequence[WaitingQuestion]:
    """List up to `limit` questions that come next."""
    async with translate_outages():
        rows = await connection.fetch(WAITING, fleet, limit)
    return [
        WaitingQuestion(row["position"], FleetQuestion(name=row["name"], query=ResearchQuery.of_any_version(row["query"])))
        for row in rows
    ]


async def begin(
    connection: Executor, fleet: UUID, position: int, run: UUID, query: ResearchQuery, searched: Sequence[UUID]
) -> None:
    """Make the run of a question. `connection` acts for the fleet's owner; `searched` are their own collections it searches."""
    await runs.create(connection, run, query)
    if searched:
        await collections.note_searches(connection, run, searched)
    async with translate_outages():
        await connection.execute(OF_FLEET, run, fleet)
        await connection.execute(BEGIN, fleet, position, run)


async def refuse(connection: Executor, fleet: UUID, position: int, why: str) -> None:
    """End a question that no run can be begun for."""
    async with translate_outages():
        await connection.execute(REFUSE, fleet, position, why)


async def drop(connection: Executor, fleet: UUID) -> None:
    """End all questions that have no run: the fleet is cancelled."""
    async with translate_outages():
        await connection.execute(DROP, fleet)


async def set_detail(connection: Executor, fleet: UUID, detail: str, wish: FleetWish | None = None) -> None:
    """Say what the fleet waits for; with a wish, from now on that."""
    async with translate_outages():
        await connection.execute(TELL, fleet, detail, wish)


async def end(connection: Executor, fleet: UUID) -> bool:
    """End the fleet if nothing is left of it; whether it has ended."""
    async with translate_outages():
        return bool(await connection.fetchval(END, fleet))


async def has_news(database: Executor, fleet: UUID, revision: int, told: Sequence[UUID]) -> bool:
    """Say whether there is something to do since `revision`; the runs `told` what to do at their budget are left out."""
    async with translate_outages():
        found = await database.fetchval(NEWS, fleet, revision, list(told))
    return found is None or bool(found)
