"""The run that brings a report up to date: made from the one before, with all that did not change."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

import orjson

from app.collections.storage import collections
from app.database.engine import Executor, translate_outages
from app.domain.budget import Usage
from app.domain.contract import ResearchInput
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.run import EventType, RunStatus
from app.domain.trajectory import Turn
from app.domain.writer import ReportLineage
from app.runs.storage import evidence, runs
from app.runs.storage.run_log import RunLog, to_json

ACT_FOR = "SELECT set_config('rubrica.organisation', $1, true), set_config('rubrica.user', $2, true)"
OWNER = "SELECT organisation_id, created_by FROM schedules WHERE id = $1"
MEMBER = "SELECT EXISTS (SELECT FROM memberships WHERE organisation_id = $1 AND user_id = $2 AND role <> 'viewer')"
EXISTS = "SELECT EXISTS (SELECT FROM runs WHERE id = $1)"
STATUS = "SELECT status, detail FROM runs WHERE id = $1"
TURNS = """
    SELECT stage, body FROM (SELECT DISTINCT ON (stage, agent, ordinal) stage, seq, body FROM turns
                             WHERE run_id = $1 AND kind = 'tool' AND stage LIKE 'search/%'
                             ORDER BY stage, agent, ordinal, revision DESC) AS latest ORDER BY seq"""
FINDINGS = "SELECT result FROM stages WHERE run_id = $1 AND done AND stage LIKE 'search/%' ORDER BY stage"
MADE = "SELECT result FROM stages WHERE run_id = $1 AND stage = 'report' AND done"
REPORT = "SELECT report FROM reports WHERE run_id = $1"
DROPPED = "SELECT dropped FROM runs WHERE id = $1"
DISPATCHED = "UPDATE runs SET dispatched_at = now() WHERE id = $1"
COPY_STAGES = """
    INSERT INTO stages (run_id, stage, attempt, done, result, closed_at)
    SELECT $2, stage, 1, true, result, now() FROM stages WHERE run_id = $1 AND done AND stage = ANY ($3::text[])"""
COPY_TURNS = """
    INSERT INTO turns (run_id, stage, agent, ordinal, revision, seq, kind, step, digest, granted, body, created_at)
    SELECT $2, stage, agent, ordinal, revision, seq, kind, step, digest, granted, body, created_at FROM turns
    WHERE run_id = $1 AND kind = 'tool' AND stage = ANY ($3::text[])"""
COPY_SOURCES = """
    INSERT INTO run_sources (hash, organisation_id, run_id, own)
    SELECT s.hash, s.organisation_id, $2, s.own FROM run_sources s WHERE s.run_id = $1 AND s.hash = ANY ($3::text[])
    ON CONFLICT DO NOTHING"""
TAKEN_OVER = "SELECT append_event($1, 'stage_finished', $2, $3)"
REMEMBER = "INSERT INTO tool_calls (run_id, key, result) SELECT $1, * FROM unnest($2::text[], $3::bytea[]) ON CONFLICT DO NOTHING"


class Owner(NamedTuple):
    """Whose schedule it is; `user` is None when they have left."""

    organisation: UUID
    user: UUID | None


class Baseline(NamedTuple):
    """A finished run as far as the next one builds on it."""

    run_id: UUID
    plan: ResearchPlan
    report: Report
    findings: Sequence[Finding]
    turns: Sequence[tuple[str, Turn]]


async def get_owner(trusted: Executor, schedule: UUID) -> Owner | None:
    """Return the schedule's owner; None when there is no such schedule."""
    async with translate_outages():
        row = await trusted.fetchrow(OWNER, schedule)
    return Owner(*row) if row else None


async def may_ask(trusted: Executor, who: Owner) -> bool:
    """Say whether the owner still belongs to the organisation, and may ask there."""
    async with translate_outages():
        return who.user is not None and bool(await trusted.fetchval(MEMBER, who.organisation, who.user))


async def act_for(connection: Executor, who: Owner) -> None:
    """Write as this person for the rest of the transaction open on `connection`, and find only what they may use."""
    async with translate_outages():
        await connection.execute(ACT_FOR, str(who.organisation), str(who.user or ""))


async def may_read_evidence(connection: Executor, who: Owner, run: UUID) -> bool:
    """Say whether this person may read now what a run gathered. `connection` has a transaction open, which acts for them then."""
    await act_for(connection, who)
    return await evidence.may_read(connection, run)


async def get_status(trusted: Executor, run: UUID) -> tuple[RunStatus, str] | None:
    """Return a run's status and what it says of it, or None."""
    async with translate_outages():
        row = await trusted.fetchrow(STATUS, run)
    return (RunStatus(row["status"]), row["detail"]) if row else None


async def get_findings(trusted: Executor, run: UUID) -> list[Finding]:
    """Return what the searches of a run found."""
    async with translate_outages():
        return [Finding.of_any_version(row["result"]) for row in await trusted.fetch(FINDINGS, run)]


async def get_report(trusted: Executor, run: UUID) -> Report | None:
    """Return the report of a run, or None."""
    async with translate_outages():
        found = await trusted.fetchval(REPORT, run)
    return Report.of_any_version(found) if found else None


async def get_report_result(trusted: Executor, run: UUID) -> bytes | None:
    """Return what the report stage of a run left: JSON with the title and how it was written. None without one."""
    async with translate_outages():
        found: bytes | None = await trusted.fetchval(MADE, run)
    return found


async def get_lineage(trusted: Executor, run: UUID) -> ReportLineage | None:
    """Return what the report of a run was written with; None where that was not noted."""
    result = await get_report_result(trusted, run)
    noted = orjson.loads(result).get("lineage") if result else None
    return ReportLineage.of_any_version(noted) if noted else None


async def get_baseline(trusted: Executor, run: UUID) -> Baseline | None:
    """Return a run to build on; None when it has no report or no plan. What was dropped before it brought anything stays out."""
    kept, told = await runs.get(trusted, run), await get_report(trusted, run)
    if kept is None or kept.plan is None or told is None:
        return None
    findings = await get_findings(trusted, run)
    async with translate_outages():
        dropped = await trusted.fetchval(DROPPED, run)
        rows = await trusted.fetch(TURNS, run)
    turns = [(row["stage"], Turn.of_any_version(row["body"])) for row in rows]
    plan = _leave_out(kept.plan, {*(dropped or ())} - {finding.subtask_id for finding in findings if finding.quotes})
    return Baseline(run, plan, told, findings, turns) if plan else None


def _leave_out(plan: ResearchPlan, unwanted: Collection[str]) -> ResearchPlan | None:
    """Return the plan without these subtasks; None when none is left."""
    wanted = tuple(
        subtask.model_copy(update={"depends_on": tuple(needed for needed in subtask.depends_on if needed not in unwanted)})
        for subtask in plan.subtasks
        if subtask.id not in unwanted
    )
    return plan.model_copy(update={"subtasks": wanted}) if wanted else None


async def create(
    connection: Executor,
    start: ResearchInput,
    searched: Sequence[UUID],
    before: Baseline | None,
    kept: Sequence[str],
    results: Mapping[str, bytes],
) -> bool:
    """Add the run that brings a report up to date, unless it is there; whether it was added.

    `connection` has a transaction open and acts for the run's owner. Of `before` the stages `kept` are taken over as they are;
    `results` are today's results of tool calls by their keys.
    """
    async with translate_outages():
        if await connection.fetchval(EXISTS, start.run_id):
            return False
        await _add(connection, start.run_id, start.query, searched)
        if before is not None:
            await RunLog(connection).save_plan(start.run_id, before.plan, (), EventType.PLAN_MADE)
            hashes = [quote.source.snapshot for finding in before.findings for quote in finding.quotes]
            for statement in (COPY_STAGES, COPY_TURNS):
                await connection.execute(statement, before.run_id, start.run_id, list(kept))
            await connection.execute(COPY_SOURCES, before.run_id, start.run_id, hashes)
            await collections.take_over_searches(connection, before.run_id, start.run_id)
            await connection.execute(REMEMBER, start.run_id, list(results), list(results.values()))
            for finding in before.findings:
                if f"search/{finding.subtask_id}" in kept:
                    await connection.execute(TAKEN_OVER, start.run_id, *_describe_takeover(before.plan, finding))
    return True


def _describe_takeover(plan: ResearchPlan, finding: Finding) -> tuple[str, str]:
    """Return the agent and the payload of the event which says that a stage had nothing to do."""
    stage, quotes = f"search/{finding.subtask_id}", finding.quotes
    told = {
        "stage": stage,
        "title": plan.get_subtask(finding.subtask_id).title,
        "stop": finding.stop,
        "detail": "nothing it searched has changed",
        "quotes": len(quotes),
        "sources": len({quote.source.url for quote in quotes}),
        "usage": Usage().model_dump(),
    }
    return stage, to_json(told)


async def _add(connection: Executor, run: UUID, query: ResearchQuery, searched: Sequence[UUID]) -> None:
    await runs.create(connection, run, query)
    await connection.execute(DISPATCHED, run)
    await collections.note_searches(connection, run, searched)
