"""The runs themselves: what was asked, where each stands. Every function but `create` is one statement, complete in itself."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.domain.budget import Budget, Usage
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.run import EventType, Run, RunStatus, WaitReason
from app.domain.served_models import SETTINGS_MODEL
from app.models.storage.resolution import resolve_roles
from app.runs.nouns import RunFilter
from app.runs.storage.run_log import to_json

WILDCARD = re.compile(r"([%_\\])")  # what LIKE would read as more than itself
ESCAPED = r"\\\1"
# The last event of a paused run's status says why it has paused, if no person did that.
PAUSE_REASON = """CASE WHEN r.status = 'paused' THEN (SELECT e.payload->>'reason' FROM events e
    WHERE e.run_id = r.id AND e.type = 'status_changed' ORDER BY e.seq DESC LIMIT 1) END"""
# A run waits for its model while an agent was offered a choice and has done nothing since, whatever the others do.
BUSY = f"""CASE WHEN r.status = 'running' AND EXISTS (SELECT FROM events e WHERE e.run_id = r.id AND e.type = 'waiting'
    AND e.payload->'options' IS NOT NULL AND NOT EXISTS (SELECT FROM events s WHERE s.run_id = r.id AND s.seq > e.seq
        AND (s.agent = e.agent OR s.type = 'status_changed'
             OR (s.type = 'stage_finished' AND starts_with(e.agent, s.payload->>'stage')))))
    THEN '{WaitReason.MODEL_BUSY}' END"""
RUN = f"""
    SELECT r.id, r.query, r.status, r.detail, coalesce({PAUSE_REASON}, {BUSY}) AS reason, r.plan, r.created_at, r.finished_at,
           l.max_tokens, l.max_cost_microusd, l.max_seconds,
           l.model_calls, l.tool_calls, l.input_tokens, l.output_tokens, l.cost_microusd, l.updated_at, l.last_seq
    FROM runs r JOIN ledgers l ON l.run_id = r.id """
GET = RUN + "WHERE r.id = $1"
# Runs made on behalf of another, and those of a fleet, are not listed.
PAGE = RUN + "WHERE r.made_for IS NULL AND r.fleet_id IS NULL ORDER BY r.created_at DESC, r.id DESC LIMIT $1"
PAGE_BEFORE = (
    RUN
    + """WHERE r.made_for IS NULL AND r.fleet_id IS NULL
      AND (r.created_at, r.id) < (SELECT created_at, id FROM runs WHERE id = $2)
    ORDER BY r.created_at DESC, r.id DESC LIMIT $1"""
)
# Every word must be in the question or in the report. Row-level security leaves the organisation's runs: few enough to read.
# Runs made on behalf of another are not found either: who has a pair to judge must not read which report is the second.
FOUND = (
    RUN
    + """WHERE r.made_for IS NULL AND r.fleet_id IS NULL
      AND ($4::text[] IS NULL OR r.status = ANY ($4::text[]))
      AND ($5::date IS NULL OR r.created_at >= $5::date::timestamp AT TIME ZONE 'UTC')
      AND ($6::date IS NULL OR r.created_at < ($6::date + 1)::timestamp AT TIME ZONE 'UTC')
      AND ($7::uuid IS NULL OR r.created_by = $7)
      AND ($2::uuid IS NULL OR (r.created_at, r.id) < (SELECT created_at, id FROM runs WHERE id = $2))
      AND (r.query->>'question' ILIKE ALL ($3::text[])
           OR EXISTS (SELECT FROM reports t WHERE t.run_id = r.id AND t.markdown ILIKE ALL ($3::text[])))
    ORDER BY r.created_at DESC, r.id DESC LIMIT $1"""
)
# The run itself, and those that work its question on its evidence.
BESIDE = RUN + "WHERE (r.id = $1 OR r.query->>'evidence_of' = $1::uuid::text) AND r.made_for IS NULL"
LOCK = "SELECT FROM runs WHERE id = $1 FOR UPDATE"
CREATE = "SELECT create_run($1, $2, $3, $4, $5, $6, $7)"
DISPATCHED = "UPDATE runs SET dispatched_at = now() WHERE id = $1 AND dispatched_at IS NULL"
UNDISPATCHED = """
    SELECT id FROM runs WHERE dispatched_at IS NULL AND finished_at IS NULL
      AND created_at NOT BETWEEN now() - $1::interval AND now()
    ORDER BY created_at LIMIT $2"""
# A run that has begun meanwhile keeps its status. As everywhere, the ledger's row is taken first.
WAITING = """
    WITH ledger AS (SELECT run_id FROM ledgers WHERE run_id = $1 FOR NO KEY UPDATE),
         told AS (UPDATE runs SET detail = $2 FROM ledger WHERE id = ledger.run_id AND status = 'queued' AND detail <> $2
                  RETURNING id)
    SELECT append_event(id, 'status_changed', '', $3) FROM told"""
UNFINISHED = f"SELECT r.id, r.status, {PAUSE_REASON} AS reason FROM runs r WHERE r.finished_at IS NULL ORDER BY r.created_at"


class UnfinishedRun(NamedTuple):
    """A run that has not ended, where it stands, and why it has paused by itself."""

    id: UUID
    status: RunStatus
    reason: WaitReason | None = None


async def create(database: Executor, run_id: UUID, query: ResearchQuery) -> None:
    """Add a run with its ledger and its first event. It belongs to the organisation that `database` acts for.

    The models of its roles are fixed here, once: later nothing looks an alias up. Those that the query names stay.
    """
    query = query.model_copy(update={"models": await resolve_roles(database, query.models)})
    budget = query.budget
    event = {
        "question": query.question,
        "system": query.system,
        "effort": query.effort,
        "language": query.language,
        "collections": query.collections,
        "corpora": query.searches_corpora,
        "suggested": query.suggested,
    }
    async with translate_outages():
        await database.execute(
            CREATE,
            run_id,
            query.model_dump_json(),
            budget.max_tokens,
            budget.max_cost_microusd,
            budget.max_seconds,
            EventType.RUN_CREATED,
            to_json(event),
        )


async def get(database: Executor, run_id: UUID) -> Run | None:
    """Return the run, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, run_id)
    return _run_of(row) if row else None


async def list_beside(database: Executor, run_id: UUID) -> Sequence[Run]:
    """Return the run and those that stand beside it, in no order."""
    async with translate_outages():
        return [_run_of(row) for row in await database.fetch(BESIDE, run_id)]


async def lock(database: Executor, run_id: UUID) -> None:
    """Let nobody else lock the run until the transaction ends."""
    async with translate_outages():
        await database.execute(LOCK, run_id)


async def list_page(database: Executor, limit: int, before: UUID | None) -> Sequence[Run]:
    """List up to `limit` runs, newest first, older than the run `before`; none when there is no such run."""
    async with translate_outages():
        rows = await (database.fetch(PAGE_BEFORE, limit, before) if before else database.fetch(PAGE, limit))
    return [_run_of(row) for row in rows]


async def find(database: Executor, wanted: RunFilter, limit: int, before: UUID | None) -> Sequence[Run]:
    """List up to `limit` of the wanted runs, newest first, older than the run `before`."""
    patterns = [f"%{WILDCARD.sub(ESCAPED, word)}%" for word in wanted.words]
    statuses = list(wanted.phase.statuses) if wanted.phase else None
    async with translate_outages():
        rows = await database.fetch(FOUND, limit, before, patterns, statuses, wanted.since, wanted.until, wanted.asked_by)
    return [_run_of(row) for row in rows]


async def note_waiting(database: Executor, run_id: UUID, reason: str) -> None:
    """Say why a queued run has not begun. One that has begun is left as it is: its start was answered late, but it was heard."""
    told = to_json({"status": RunStatus.QUEUED, "detail": reason})
    async with translate_outages():
        await database.fetchval(WAITING, run_id, reason, told)


async def mark_dispatched(database: Executor, run_id: UUID) -> None:
    """Note that a workflow was started for the run."""
    async with translate_outages():
        await database.execute(DISPATCHED, run_id)


async def list_undispatched(database: Executor, older_than: timedelta, limit: int) -> Sequence[UUID]:
    """List runs that no workflow was started for although they have waited longer than `older_than`, oldest first."""
    async with translate_outages():
        return [row["id"] for row in await database.fetch(UNDISPATCHED, older_than, limit)]


async def list_unfinished(database: Executor) -> Sequence[UnfinishedRun]:
    """List every run that has not ended, oldest first: each must have a workflow."""
    async with translate_outages():
        rows = await database.fetch(UNFINISHED)
    return [UnfinishedRun(row["id"], RunStatus(row["status"]), _read_reason(row)) for row in rows]


def _read_reason(row: Record) -> WaitReason | None:
    return WaitReason(row["reason"]) if row["reason"] else None


def _run_of(row: Record) -> Run:
    """Return the run as readers see it: without its models, which would tell them apart whose reports they compare."""
    return Run(
        id=row["id"],
        query=ResearchQuery.of_any_version(row["query"]).model_copy(update={"models": SETTINGS_MODEL}),
        status=RunStatus(row["status"]),
        detail=row["detail"],
        reason=_read_reason(row),
        plan=ResearchPlan.of_any_version(row["plan"]) if row["plan"] else None,
        usage=Usage(**{name: row[name] for name in Usage.model_fields}),
        budget=Budget(**{name: row[name] for name in Budget.model_fields}),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        finished_at=row["finished_at"],
        last_seq=row["last_seq"],
    )
