"""The changes that a reader makes to a run under way. Each is one statement under the lock of the run's ledger."""

from collections.abc import Collection
from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.domain.budget import Budget
from app.domain.contract import Halt
from app.domain.query import ResearchQuery
from app.domain.run import EventType
from app.runs.storage.run_log import to_json

CONTROL = "SELECT control FROM ledgers WHERE run_id = $1"
SET_CONTROL = "UPDATE ledgers SET control = $2, updated_at = now() WHERE run_id = $1 AND control = ANY($3::text[]) RETURNING true"
SET_FINISH = "UPDATE runs SET finish = $2 WHERE id = $1"
SET_QUERY = "UPDATE runs SET query = $2 WHERE id = $1 AND finished_at IS NULL"
SET_APPROVED = "UPDATE runs SET approved = true WHERE id = $1"
APPROVED = "SELECT approved FROM runs WHERE id = $1"
# What ends also the calls in flight. The caps on tokens and money do not: these calls were reserved for. Whoever asks is at work:
# the time since somebody last asked is counted.
FIND_INTERRUPTION = """
    WITH counted AS (
        UPDATE ledgers l SET active_seconds = active_seconds_of(l), running_since = now()
        WHERE run_id = $1 AND running_since NOT BETWEEN now() - interval '20 seconds' AND now())
    SELECT CASE WHEN control <> 'none' THEN control WHEN active_seconds_of(l) >= max_seconds THEN 'budget' ELSE 'none' END
    FROM ledgers l WHERE run_id = $1"""
ADD_NOTE = """
    WITH counted AS (UPDATE ledgers SET last_seq = last_seq + 1, updated_at = now() WHERE run_id = $1 RETURNING last_seq AS seq),
         note AS (INSERT INTO notes (run_id, seq, text) SELECT $1, seq, $2 FROM counted RETURNING seq)
    SELECT seq, write_event($1, seq, $3, 'user', $4) FROM note"""
SET_BUDGET = """
    WITH counted AS (UPDATE ledgers SET max_tokens = $2, max_cost_microusd = $3, max_seconds = $4,
                                        last_seq = last_seq + 1, updated_at = now() WHERE run_id = $1 RETURNING last_seq AS seq)
    SELECT seq, write_event($1, seq, $5, 'user', $6) FROM counted"""
AWAIT_TURN = "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))"
# Live reservations do not count here: a stage that halted gives its own back when it is opened again.
BUDGET_LEFT = """
    SELECT coalesce(input_tokens + output_tokens < max_tokens, true) AND coalesce(cost_microusd < max_cost_microusd, true)
       AND coalesce(active_seconds < max_seconds, true) FROM ledgers WHERE run_id = $1"""


async def get_control(database: Executor, run_id: UUID) -> Halt | None:
    """Return what the reader last wished: none, pause or cancel. None when there is no such run."""
    async with translate_outages():
        wished: str | None = await database.fetchval(CONTROL, run_id)
    return Halt(wished) if wished else None


async def find_interruption(database: Executor, run_id: UUID) -> Halt:
    """Return why the run's calls in flight must end: a pause, a cancel, or the cap on minutes (`Halt.BUDGET`).

    A running stage asks every few seconds: what lies between two answers, at most a minute, is counted as time of the run.
    """
    async with translate_outages():
        found: str | None = await database.fetchval(FIND_INTERRUPTION, run_id)
    return Halt(found) if found else Halt.NONE


async def set_control(database: Executor, run_id: UUID, wish: Halt, replacing: Collection[Halt]) -> bool:
    """Write a wish that every agent reads with its next turn. False when the present one is none of `replacing`."""
    async with translate_outages():
        return bool(await database.fetchval(SET_CONTROL, run_id, wish, list(replacing)))


async def set_finish(database: Executor, run_id: UUID, finish: bool) -> None:
    """Keep whether the run is to end with what there is, for a workflow that is started anew."""
    async with translate_outages():
        await database.execute(SET_FINISH, run_id, finish)


async def set_query(database: Executor, run_id: UUID, query: ResearchQuery) -> None:
    """Replace what a run works with: nothing but the models of its roles ever changes."""
    async with translate_outages():
        await database.execute(SET_QUERY, run_id, query.model_dump_json())


async def set_approved(database: Executor, run_id: UUID) -> None:
    """Keep that a person approved the plan."""
    async with translate_outages():
        await database.execute(SET_APPROVED, run_id)


async def is_approved(database: Executor, run_id: UUID) -> bool:
    """Say whether a person approved the plan."""
    async with translate_outages():
        return bool(await database.fetchval(APPROVED, run_id))


async def add_note(database: Executor, run_id: UUID, text: str) -> int | None:
    """Keep a note for the stages opened from now on, appending `note_added`; the event's number, None without such a run."""
    async with translate_outages():
        seq: int | None = await database.fetchval(ADD_NOTE, run_id, text, EventType.NOTE_ADDED, to_json({"text": text}))
    return seq


async def set_budget(database: Executor, run_id: UUID, budget: Budget) -> int | None:
    """Replace the run's caps, appending `budget_changed`; the event's number, None without such a run."""
    caps = (budget.max_tokens, budget.max_cost_microusd, budget.max_seconds)
    payload = to_json({"budget": budget.model_dump()})
    async with translate_outages():
        seq: int | None = await database.fetchval(SET_BUDGET, run_id, *caps, EventType.BUDGET_CHANGED, payload)
    return seq


async def await_turn(database: Executor, run_id: UUID) -> None:
    """Wait until nobody else changes this run's plan. The turn ends with the transaction that must be open."""
    async with translate_outages():
        await database.execute(AWAIT_TURN, str(run_id))


async def has_budget_left(database: Executor, run_id: UUID) -> bool:
    """Say whether none of the run's caps is reached."""
    async with translate_outages():
        return bool(await database.fetchval(BUDGET_LEFT, run_id))
