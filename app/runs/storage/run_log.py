"""What a worker writes while a run proceeds. One round trip a call: each is one SQL function of `migrations/sql`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from app.database.engine import Executor, translate_outages
from app.database.json_text import replace_nul
from app.domain.budget import Usage
from app.domain.contract import Halt, ResearchInput
from app.domain.errors import NotFound
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.run import EventType, RunStatus, WaitReason
from app.domain.trajectory import Turn
from app.runs.storage.turn_writer import TurnArguments, TurnWriter

RESERVE = "SELECT * FROM reserve($1, $2, $3, $4, $5, $6, $7, $8)"
OTHERS_HOLD = """
    SELECT l.last_seq FROM ledgers l JOIN stages s USING (run_id) WHERE run_id = $1 AND stage = $2
       AND (l.reserved_tokens > s.reserved_tokens OR l.reserved_cost_microusd > s.reserved_cost_microusd)"""
CLOSE_STAGE = "SELECT close_stage($1, $2, $3, $4, $5, $6, $7, $8)"
APPEND_EVENT = "SELECT append_event($1, $2, $3, $4)"
TELL = "SELECT tell($1, $2, $3, call, $4, $5, payload) FROM unnest($6::integer[], $7::json[]) AS told (call, payload)"
SET_STATUS = "SELECT set_status($1, $2, $3, $4)"
DROP_STAGE = (
    "INSERT INTO stages (run_id, stage, dropped) VALUES ($1, $2, true) ON CONFLICT (run_id, stage) DO UPDATE SET dropped = true"
)
# A search that is wanted again goes on, unless it has handed over already.
DROP_OTHERS = """
    UPDATE stages SET dropped = stage <> ALL($2::text[])
    WHERE run_id = $1 AND stage LIKE 'search/%' AND NOT done AND dropped IS DISTINCT FROM (stage <> ALL($2::text[]))"""
# What is dropped stays dropped, and what else changes a plan counts its revisions: so it is known which of two is the later.
# Read as text: PostgreSQL's own reader stops at an escaped NUL, which a title may have.
SAVE_PLAN = """
    WITH saved AS (UPDATE runs SET plan = $2, dropped = $3::text[]
                   WHERE id = $1 AND (coalesce(substring(plan::text FROM '"revision": ?([0-9]+)')::int, 0), cardinality(dropped))
                                     < ($6::int, cardinality($3::text[])) RETURNING id)
    SELECT EXISTS (SELECT FROM runs WHERE id = $1), (SELECT append_event(id, $4, '', $5) FROM saved)"""
SAVE_REPORT = """
    WITH saved AS (INSERT INTO reports (run_id, report, markdown, html, evidence) VALUES ($1, $2, $3, $4, $5)
                   ON CONFLICT DO NOTHING RETURNING run_id)
    SELECT append_event(run_id, 'report_ready', '', $6) FROM saved"""
LOAD = (
    "SELECT query, plan, dropped, finish, approved, organisation_id, fleet_id IS NOT NULL AS background FROM runs WHERE id = $1"
)
# What is there is wanted again: it must not be swept before it is cited. An old copy that another holds may be swept just now.
MISSING = """
    WITH wanted AS (UPDATE snapshots SET first_seen = now() WHERE hash IN (SELECT hash FROM snapshots
        WHERE hash = ANY($1::text[]) AND first_seen < now() - interval '12 hours' FOR UPDATE SKIP LOCKED) RETURNING hash)
    SELECT given FROM unnest($1::text[]) AS given WHERE given NOT IN (SELECT hash FROM wanted)
        AND NOT EXISTS (SELECT FROM snapshots WHERE hash = given AND first_seen >= now() - interval '12 hours')"""


class Reservation(NamedTuple):
    """What a model call may spend at most: tokens (input and output) and millionths of a US dollar."""

    tokens: int = 0
    cost_microusd: int = 0


NOTHING = Reservation()


class SourceSnapshot(NamedTuple):
    """The full text of a cited source, under its hash."""

    hash: str
    text: str


class Renderings(NamedTuple):
    """A report as readers get it: Markdown, and a self-contained HTML page."""

    markdown: str
    html: str


class Receipt(NamedTuple):
    """A stored turn's event number, and whether the agent may go on: `granted` means its next reservation was made.

    `capped`: tokens or money have a cap by now.
    """

    seq: int
    halt: Halt
    granted: bool
    capped: bool


class RunLog:
    """The record of runs in PostgreSQL, for workers.

    Raises:
        NotFound: no such run, or a stage that was never opened.
        Unavailable: the database does not answer. `store_turn` may be repeated then: it stores and bills once.
    """

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._turns = TurnWriter(pool)

    @property
    def executor(self) -> Executor:
        """What it writes through: within a transaction, the connection that has it open."""
        return self._pool

    async def store_turn(
        self,
        run_id: UUID,
        stage: str,
        attempt: int,
        turn: Turn,
        usage: Usage,
        released: Reservation,
        following: Reservation | None,
        event: EventType,
        payload: Mapping[str, Any],
    ) -> Receipt:
        """Store a turn before the next begins; bill `usage`, give `released` back, reserve `following`, append the event.

        Repeating the call (after `Unavailable`) stores and bills once, also when the stage was opened again in between. A turn
        of a superseded attempt is billed but not stored. `following` None reserves nothing and is always granted.
        """
        async with translate_outages():
            row = await self._turns.store(
                TurnArguments(
                    run_id,
                    stage,
                    attempt,
                    turn.agent,
                    turn.ordinal,
                    turn.kind,
                    turn.step,
                    turn.digest,
                    turn.model_dump_json(exclude_defaults=True).encode(),
                    usage.model_calls,
                    usage.tool_calls,
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cost_microusd,
                    released.tokens,
                    released.cost_microusd,
                    following.tokens if following else None,
                    following.cost_microusd if following else None,
                    event,
                    to_json(payload),
                )
            )
        if row["halt"] is None:
            raise NotFound(f"stage {stage} of run {run_id} was never opened")
        return Receipt(row["seq"], Halt(row["halt"]), row["granted"], row["capped"])

    async def reserve(
        self,
        run_id: UUID,
        stage: str,
        attempt: int,
        released: Reservation,
        following: Reservation | None,
        call: int | None = None,
    ) -> tuple[Halt, bool]:
        """Exchange a reservation outside a turn: for an agent that starts or ended, or a call larger than foreseen.

        `call` numbers this attempt's exchanges: repeating one (after `Unavailable`) makes it once.
        """
        tokens, cost = following or (None, None)
        async with translate_outages():
            row = await self._pool.fetchrow(RESERVE, run_id, stage, attempt, *released, tokens, cost, call)
        if row is None or row["halt"] is None:
            raise NotFound(f"stage {stage} of run {run_id} was never opened")
        return Halt(row["halt"]), row["granted"]

    async def others_hold(self, run_id: UUID, stage: str) -> int | None:
        """Return the number of the run's latest event when other stages of it have something reserved, None when none has."""
        async with translate_outages():
            latest: int | None = await self._pool.fetchval(OTHERS_HOLD, run_id, stage)
        return latest

    async def close_stage(
        self,
        run_id: UUID,
        stage: str,
        attempt: int,
        result: bytes,
        snapshots: Sequence[SourceSnapshot],
        payload: Mapping[str, Any],
        sources: Iterable[str] = (),
        open_sources: Iterable[str] = (),
    ) -> bool:
        """Keep the stage's result and the cited snapshots, release what is reserved, append `stage_finished`.

        `sources` are the hashes of all cited sources; `snapshots` are those of them that were not stored yet, `open_sources`
        those that are no own documents. False when the stage had a result already or belongs to another attempt by now.
        """
        hashes = list(dict.fromkeys([*(snapshot.hash for snapshot in snapshots), *sources]))
        kept = hashes, [snapshot.text.encode() for snapshot in snapshots], to_json(payload), list(open_sources)
        async with translate_outages():
            return bool(await self._pool.fetchval(CLOSE_STAGE, run_id, stage, attempt, result, *kept))

    async def drop_stage(self, run_id: UUID, stage: str) -> None:
        """Tell a stage, running or to come, to stop at its next turn and hand over what it has (`Halt.DROPPED`)."""
        async with translate_outages():
            await self._pool.execute(DROP_STAGE, run_id, stage)

    async def drop_other_searches(self, run_id: UUID, wanted: Sequence[str]) -> None:
        """Tell the searches that have begun, but for the stages `wanted`, to stop at their next turn (`Halt.DROPPED`)."""
        async with translate_outages():
            await self._pool.execute(DROP_OTHERS, run_id, list(wanted))

    async def append_event(self, run_id: UUID, event: EventType, agent: str, payload: Mapping[str, Any]) -> int:
        """Append one event; its number."""
        async with translate_outages():
            seq: int | None = await self._pool.fetchval(APPEND_EVENT, run_id, event, agent, to_json(payload))
        if seq is None:
            raise NotFound(f"there is no run {run_id}")
        return seq

    async def append_once(
        self, run_id: UUID, stage: str, attempt: int, event: EventType, agent: str, told: Sequence[tuple[int, Mapping[str, Any]]]
    ) -> None:
        """Append events that a stage tells outside a turn, each with the number of what this attempt tells and its payload.

        Repeating it tells them once. An attempt that another has replaced tells nothing.
        """
        calls, payloads = [call for call, _ in told], [to_json(payload) for _, payload in told]
        async with translate_outages():
            numbers = await self._pool.fetch(TELL, run_id, stage, attempt, event, agent, calls, payloads)
        if any(row["tell"] is None for row in numbers):
            raise NotFound(f"there is no run {run_id}")

    async def set_status(
        self,
        run_id: UUID,
        status: RunStatus,
        detail: str = "",
        options: Sequence[str] = (),
        reason: WaitReason | None = None,
    ) -> int | None:
        """Move the run to a status, appending `status_changed`. None when nothing changed: the first final status stays."""
        extra = to_json(({"options": list(options)} if options else {}) | ({"reason": reason} if reason else {}))
        async with translate_outages():
            seq: int | None = await self._pool.fetchval(SET_STATUS, run_id, status, detail.replace("\x00", ""), extra)
        return seq

    async def load(self, run_id: UUID) -> ResearchInput:
        """Return everything a workflow needs to start this run anew; stages hand over their own results when they are opened."""
        async with translate_outages():
            row = await self._pool.fetchrow(LOAD, run_id)
        if row is None:
            raise NotFound(f"there is no run {run_id}")
        return ResearchInput(
            run_id=run_id,
            query=ResearchQuery.of_any_version(row["query"]),
            plan=ResearchPlan.of_any_version(row["plan"]) if row["plan"] else None,
            dropped=tuple(row["dropped"]),
            finish=row["finish"],
            approved=row["approved"],
            organisation_id=row["organisation_id"],
            background=row["background"],
        )

    async def save_plan(self, run_id: UUID, plan: ResearchPlan, dropped: Sequence[str], event: EventType) -> int | None:
        """Keep the current plan and the ids taken out of it, appending `plan_made` or `plan_revised`; the event's number.

        None where this plan, or a later one, is kept already: it was sent twice, or too late.
        """
        text = plan.model_dump_json()
        values = (run_id, text, list(dropped), event, f'{{"plan":{replace_nul(text)}}}', plan.revision)
        async with translate_outages():
            row = await self._pool.fetchrow(SAVE_PLAN, *values)
        assert row is not None
        if not row[0]:
            raise NotFound(f"there is no run {run_id}")
        seq: int | None = row[1]
        return seq

    async def save_report(
        self, run_id: UUID, report: Report, renderings: Renderings, evidence: Mapping[str, Any], payload: Mapping[str, Any]
    ) -> int | None:
        """Keep the finished report with its renderings, appending `report_ready`. None when the run has a report already."""
        markdown, html = (text.replace("\x00", "") for text in renderings)  # PostgreSQL's text holds no NUL
        async with translate_outages():
            seq: int | None = await self._pool.fetchval(
                SAVE_REPORT, run_id, replace_nul(report.model_dump_json()), markdown, html, to_json(evidence), to_json(payload)
            )
        return seq

    async def missing_snapshots(self, hashes: Sequence[str]) -> frozenset[str]:
        """Return those of `hashes` that are not stored, or may be swept before they are cited: their texts have to travel."""
        async with translate_outages():
            return frozenset(row["given"] for row in await self._pool.fetch(MISSING, list(hashes)))


def to_json(value: Mapping[str, Any]) -> str:
    """Return JSON text for a `json` column."""
    return replace_nul(orjson.dumps(value).decode())
