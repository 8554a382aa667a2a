"""Cycles of retraining, their steps and their logs. Every function is one statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.domain.retraining import Cycle, CycleEvent, CycleEventType, CyclePlan, CycleState, CycleWish, StepOutcome, TakenStep

CYCLE = """
    SELECT id, plan, folder, state, wish, approved, detail, asked_by, last_seq, created_at, ended_at
    FROM retraining_cycles """
# Two starts at once: the second waits for the first one's transaction, and adds nothing.
ADD = """
    INSERT INTO retraining_cycles (id, plan, folder, state, asked_by) VALUES ($1, $2, $3, 'running', $4)
    ON CONFLICT ((plan ->> 'name')) WHERE ended_at IS NULL DO NOTHING RETURNING true"""
GET = CYCLE + "WHERE id = $1"
PAGE = (
    CYCLE
    + """WHERE $2::uuid IS NULL OR (created_at, id) < (SELECT b.created_at, b.id FROM retraining_cycles b WHERE b.id = $2)
    ORDER BY created_at DESC, id DESC LIMIT $1"""
)
UNDER_WAY = CYCLE + "WHERE ended_at IS NULL ORDER BY created_at"
OF_PLAN = CYCLE + "WHERE ended_at IS NULL AND plan ->> 'name' = $1"
# A cycle that has ended stays as it ended, and a state that it has already is told once.
SET_STATE = """
    UPDATE retraining_cycles SET state = $2, detail = $3, ended_at = CASE WHEN $4 THEN now() END
    WHERE id = $1 AND ended_at IS NULL AND (state, detail) <> ($2, $3)"""
SET_WISH = "UPDATE retraining_cycles SET wish = $2 WHERE id = $1 AND ended_at IS NULL"
APPROVE = """
    UPDATE retraining_cycles SET approved = array_append(approved, $2)
    WHERE id = $1 AND ended_at IS NULL AND NOT $2 = ANY (approved)"""
# The row's lock numbers the events without gaps.
TELL = """
    WITH numbered AS (UPDATE retraining_cycles SET last_seq = last_seq + 1 WHERE id = $1 RETURNING last_seq)
    INSERT INTO cycle_events (cycle_id, seq, type, payload) SELECT $1, last_seq, $2, $3 FROM numbered"""
EVENTS = "SELECT cycle_id, seq, type, payload, at FROM cycle_events WHERE cycle_id = $1 AND seq > $2 ORDER BY seq LIMIT $3"
BEGIN_STEP = """
    INSERT INTO cycle_steps (cycle_id, step, attempt, folder) VALUES ($1, $2, 1, $3)
    ON CONFLICT (cycle_id, step) DO UPDATE SET attempt = cycle_steps.attempt + 1 RETURNING attempt"""
# A step that may not begin has an outcome all the same.
END_STEP = """
    INSERT INTO cycle_steps (cycle_id, step, outcome, ended_at) VALUES ($1, $2, $3, now())
    ON CONFLICT (cycle_id, step) DO UPDATE SET outcome = $3, ended_at = now() WHERE cycle_steps.outcome IS NULL"""
IS_BEGUN = "SELECT EXISTS (SELECT FROM cycle_steps WHERE cycle_id = $1 AND step = $2)"
STEPS = """
    SELECT step, attempt, started_at, ended_at, outcome FROM cycle_steps WHERE cycle_id = $1 ORDER BY started_at, step"""
# People's words are told as changes of state too; they name none.
STATE_TIMES = """
    SELECT cycle_id, max(at) AS since FROM cycle_events
    WHERE cycle_id = ANY ($1) AND type = 'state_changed' AND payload ->> 'state' IS NOT NULL GROUP BY cycle_id"""
OUTCOMES = "SELECT step, outcome FROM cycle_steps WHERE cycle_id = $1 AND outcome IS NOT NULL ORDER BY started_at, step"
LAST_PROMOTION = """
    SELECT max(ended_at) FROM retraining_cycles WHERE plan ->> 'name' = $1 AND state = 'promoted'"""


async def add(database: Executor, cycle: UUID, plan: CyclePlan, folder: str, asked_by: str) -> bool:
    """Add a cycle that is to run. False: one of this plan is under way."""
    async with translate_outages():
        return bool(await database.fetchval(ADD, cycle, plan.model_dump_json(), folder, asked_by))


async def get(database: Executor, cycle: UUID) -> Cycle | None:
    """Return a cycle; None where there is none of this id."""
    async with translate_outages():
        row = await database.fetchrow(GET, cycle)
    return _cycle_of(row) if row else None


async def list_page(database: Executor, most: int, before: UUID | None = None) -> list[Cycle]:
    """List the newest cycles first, from those older than `before` on."""
    async with translate_outages():
        return [_cycle_of(row) for row in await database.fetch(PAGE, most, before)]


async def list_state_times(database: Executor, cycles: Sequence[UUID]) -> dict[UUID, datetime]:
    """Return since when each of these cycles is in its state; one that has begun and done nothing else is not among them."""
    async with translate_outages():
        return {row["cycle_id"]: row["since"] for row in await database.fetch(STATE_TIMES, cycles)}


async def list_under_way(database: Executor) -> list[Cycle]:
    """List the cycles that have not ended, the oldest first."""
    async with translate_outages():
        return [_cycle_of(row) for row in await database.fetch(UNDER_WAY)]


async def find_under_way(database: Executor, plan: str) -> Cycle | None:
    """Return the cycle of a plan that has not ended: at most one has not."""
    async with translate_outages():
        row = await database.fetchrow(OF_PLAN, plan)
    return _cycle_of(row) if row else None


async def set_state(database: Executor, cycle: UUID, state: CycleState, detail: str = "") -> bool:
    """Set the state of a cycle that has not ended; False where it is in this state already, or has ended."""
    async with translate_outages():
        return await database.execute(SET_STATE, cycle, state, detail, state.finished) == "UPDATE 1"


async def set_wish(database: Executor, cycle: UUID, wish: CycleWish) -> bool:
    """Say what is to become of a cycle; False where it has ended."""
    async with translate_outages():
        return await database.execute(SET_WISH, cycle, wish) == "UPDATE 1"


async def approve(database: Executor, cycle: UUID, step: str) -> bool:
    """Let a step be taken that waits for a person; False where that is so already, or the cycle has ended."""
    async with translate_outages():
        return await database.execute(APPROVE, cycle, step) == "UPDATE 1"


async def tell(database: Executor, cycle: UUID, kind: CycleEventType, payload: dict[str, Any]) -> None:
    """Append an event to a cycle's log."""
    async with translate_outages():
        await database.execute(TELL, cycle, kind, orjson.dumps(payload).decode())


async def list_events(database: Executor, cycle: UUID, after: int = 0, most: int = 500) -> list[CycleEvent]:
    """List a cycle's events with numbers above `after`, in their order."""
    async with translate_outages():
        rows = await database.fetch(EVENTS, cycle, after, most)
    return [
        CycleEvent(cycle=r["cycle_id"], seq=r["seq"], type=r["type"], payload=orjson.loads(r["payload"]), at=r["at"])
        for r in rows
    ]


async def begin_step(database: Executor, cycle: UUID, step: str, folder: str) -> int:
    """Note that an attempt at a step begins; return its number, from 1."""
    async with translate_outages():
        return int(await database.fetchval(BEGIN_STEP, cycle, step, folder))


async def is_begun(database: Executor, cycle: UUID, step: str) -> bool:
    """Return whether an attempt at a step has begun."""
    async with translate_outages():
        return bool(await database.fetchval(IS_BEGUN, cycle, step))


async def end_step(database: Executor, cycle: UUID, step: str, outcome: StepOutcome) -> bool:
    """Store a step's outcome; False where it has one."""
    async with translate_outages():
        return await database.execute(END_STEP, cycle, step, outcome.model_dump_json()) == "INSERT 0 1"


async def list_outcomes(database: Executor, cycle: UUID) -> dict[str, StepOutcome]:
    """Return the outcomes of a cycle's steps by their names, in the order in which they were begun."""
    async with translate_outages():
        rows: Sequence[Record] = await database.fetch(OUTCOMES, cycle)
    return {row["step"]: StepOutcome.of_any_version(row["outcome"]) for row in rows}


async def list_steps(database: Executor, cycle: UUID) -> list[TakenStep]:
    """List the steps of a cycle that were begun or have an outcome, in that order."""
    async with translate_outages():
        rows = await database.fetch(STEPS, cycle)
    return [TakenStep.of_any_version({**row, "outcome": row["outcome"] and orjson.loads(row["outcome"])}) for row in rows]


async def find_last_promotion(database: Executor, name: str) -> datetime | None:
    """Return when a plan of this name last brought a promotion."""
    async with translate_outages():
        found: datetime | None = await database.fetchval(LAST_PROMOTION, name)
    return found


def _cycle_of(row: Record) -> Cycle:
    return Cycle.of_any_version({**row, "plan": orjson.loads(row["plan"])})
