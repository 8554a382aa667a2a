"""Makes people who judge, and finished runs whose reports they judge, without a worker."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import orjson

from app.accounts.nouns.access import LOCAL_ORGANISATION, AccessScope, Role
from app.accounts.nouns.api_key import ApiKey
from app.accounts.storage import organisations as accounts
from app.domain.budget import StopReason, Usage
from app.domain.claims import Claim, Support
from app.domain.evidence import Finding, Quote, Source, snapshot_hash
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report, Section
from app.domain.run import EventType, RunStatus
from app.domain.trajectory import Turn, TurnKind
from app.domain.writer import ReportLineage
from app.runs.storage import runs
from app.runs.storage.run_log import NOTHING, Renderings, RunLog
from tests.app.served_api import ApiClient, ApiReply
from tests.support.stage_opening import open_stage

TENANT = "the-tenant-of-the-index"
TEXT = "Duties protect labour. Duties raise prices."
SOURCE = Source(url="https://example.org/duties", title="On duties", snapshot=snapshot_hash(TEXT))
QUOTES = (Quote(source=SOURCE, text=TEXT[:22], start=0, end=22), Quote(source=SOURCE, text=TEXT[23:], start=23, end=len(TEXT)))
PLAN = ResearchPlan(title="Duties", subtasks=tuple(Subtask(id=f"s{n}", title=f"Part {n}", question="?") for n in (1, 2, 3)))


@dataclass(frozen=True)
class Person:
    """A member with a key, who speaks to the API."""

    id: UUID
    key: ApiKey
    api: ApiClient

    async def send(self, method: str, path: str, body: Any = None) -> ApiReply:
        return await self.api.send(method, path, json=body, headers={"Authorization": f"Bearer {self.key}"})

    async def get(self, path: str) -> ApiReply:
        return await self.send("GET", path)

    async def post(self, path: str, body: Any = None) -> ApiReply:
        return await self.send("POST", path, body)

    async def put(self, path: str, body: Any = None) -> ApiReply:
        return await self.send("PUT", path, body)


async def add_person(
    pool: asyncpg.Pool, api: ApiClient, role: Role = Role.MEMBER, organisation: UUID = LOCAL_ORGANISATION
) -> Person:
    """Add a person to an organisation, which is made if it is not there."""
    person = Person(uuid4(), ApiKey.new(), api)
    await accounts.ensure_organisation(pool, organisation, "An organisation")
    await accounts.ensure_user(pool, person.id, f"{person.id}@example.org")
    await accounts.ensure_membership(pool, organisation, person.id, role)
    await accounts.ensure_key(pool, person.key, organisation, person.id, "key", AccessScope)
    return person


def make_report(words: str, notices: tuple[str, ...] = ()) -> Report:
    """Make a report with one claim and one citation."""
    body = f"{words} [[{QUOTES[0].key}]]"
    claim = Claim(
        text=words, section=0, start=0, end=len(words), quote_keys=(QUOTES[0].key,), support=Support.FULL, judge="the-judge"
    )
    return Report(
        title="Duties", sections=(Section(heading="In short", body=body),), quotes=QUOTES, notices=notices, claims=(claim,)
    )


async def make_finished_run(pool: asyncpg.Pool, written: Report, lineage: ReportLineage, asker: UUID | None = None) -> UUID:
    """Make a completed run: two searches with a finding each, one that left nothing, and this report."""
    run_id, log = uuid4(), RunLog(pool)
    await runs.create(pool, run_id, ResearchQuery(question="Why duties?", tenant=TENANT, searched=(f"{TENANT}/own",)))
    await log.save_plan(run_id, PLAN, (), EventType.PLAN_MADE)
    for number, quote in enumerate(QUOTES, start=1):
        finding = Finding(subtask_id=f"s{number}", quotes=(quote,), stop=StopReason.SUFFICIENT)
        await _close_stage(log, run_id, f"search/s{number}", finding.model_dump_json().encode())
    await finish_run(pool, run_id, written, lineage)
    if asker is not None:
        await pool.execute("UPDATE runs SET created_by = $2 WHERE id = $1", run_id, asker)
    return run_id


async def finish_run(pool: asyncpg.Pool, run_id: UUID, written: Report, lineage: ReportLineage, cost: int = 0) -> None:
    """Write what the report stage writes: a turn where there is a cost, the report, the end of the run."""
    log = RunLog(pool)
    opening = await open_stage(log, run_id, "report", None)
    if cost:
        turn = Turn(agent="report", ordinal=0, kind=TurnKind.MODEL, step="outline", digest="d")
        usage = Usage(model_calls=1, input_tokens=cost, output_tokens=1, cost_microusd=cost)
        await log.store_turn(run_id, "report", opening.attempt, turn, usage, NOTHING, None, EventType.MODEL_CALL, {})
    await log.save_report(run_id, written, Renderings("# Duties\n", "<p>"), {"citations": [], "claims": []}, {})
    result = orjson.dumps({"title": written.title, "lineage": lineage.model_dump(mode="json")})
    await log.close_stage(run_id, "report", opening.attempt, result, [], {})
    await log.set_status(run_id, RunStatus.COMPLETED)


async def _close_stage(log: RunLog, run_id: UUID, stage: str, result: bytes) -> None:
    opening = await open_stage(log, run_id, stage, None)
    await log.close_stage(run_id, stage, opening.attempt, result, [], {})


async def find_made_run(pool: asyncpg.Pool, comparison_id: str) -> UUID:
    """Return the run that writes a comparison's second report."""
    found: UUID = await pool.fetchval("SELECT made_run_id FROM comparisons WHERE id = $1", UUID(comparison_id))
    return found


async def make_comparison(pool: asyncpg.Pool, owner: Person, run_id: UUID, words: str, lineage: ReportLineage) -> str:
    """Make a comparison that is ready; the second report says `words`."""
    body = {"run_id": str(run_id), "writer": {"agents": "brief", "arrangement": "time"}}
    reply = await owner.post("/v1/comparisons", body)
    assert reply.status == 201, reply.body
    await finish_run(
        pool, await find_made_run(pool, reply.json["id"]), make_report(words), lineage, cost=1 if lineage.model else 0
    )
    return str(reply.json["id"])


def make_choice(verdict: str, strength: int | None = 2, **also: Any) -> Mapping[str, Any]:
    """Make the body of a choice."""
    return {"verdict": verdict, "strength": strength if verdict in ("left", "right") else None, **also}
