"""A run as it is stored: what its planner and its writer worked from, and what came of it. Nothing here is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date
from functools import cached_property
from uuid import UUID

import asyncpg

from app.asking.storage import rubrics
from app.domain.budget import StopReason, Usage
from app.domain.errors import NotFound
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.rubric import Rubric
from app.domain.run import Run
from app.domain.writer import ReportLineage
from app.runs.storage import kept_stages, runs, stored_turns
from app.runs.storage.run_log import RunLog
from app.schedules.storage import living_runs
from retrieval.tape import Tape
from workflows.agents.memory import SharedMemory
from workflows.agents.stage_memory import PLANNER
from workflows.durable.workshop import REPORT_STAGE, make_notes
from workflows.systems.minddr import make_dropped_finding
from workflows.tools.taped_tools import tape_of


@dataclass(frozen=True)
class StoredRun:
    """A stored run. `plan` is what was carried out, `planned` what the planner made of the question.

    `findings` come in the order of the plan; `tape` has what the run's tools returned. `report`, `rubric` and the `score` by it
    are None where there is none. `plan_usage` and `report_usage` are what these stages used; None where the run's log is gone.
    """

    run: Run
    plan: ResearchPlan
    planned: ResearchPlan
    findings: tuple[Finding, ...]
    notes: SharedMemory
    tape: Tape
    report: Report | None
    rubric: Rubric | None
    score: float | None
    lineage: ReportLineage
    plan_usage: Usage | None
    report_usage: Usage | None

    @property
    def query(self) -> ResearchQuery:
        """The question as it was asked."""
        return self.run.query

    @property
    def asked_on(self) -> date:
        """The day that its agents took for today."""
        return self.run.created_at.astimezone(UTC).date()

    @cached_property
    def has_evidence(self) -> bool:
        """Whether a report can be written of what was found."""
        return any(finding.quotes or finding.passages for finding in self.findings)


async def load_stored_run(database: asyncpg.Pool, run_id: UUID) -> StoredRun:
    """Load a run.

    Raises:
        NotFound: there is no such run, or it has no plan yet.
    """
    start = await RunLog(database).load(run_id)
    run, written = await runs.get(database, run_id), await kept_stages.get(database, run_id, REPORT_STAGE)
    planning = await kept_stages.get(database, run_id, PLANNER)
    rubric, card = await rubrics.get(database, run_id), await rubrics.get_scorecard(database, run_id)
    if run is None or start.plan is None:
        raise NotFound(f"run {run_id} has no plan, so there is nothing to play back")
    found = {finding.subtask_id: finding for finding in await living_runs.get_findings(database, run_id)}
    return StoredRun(
        run=run,
        plan=start.plan,
        planned=ResearchPlan.of_any_version(planning.result) if planning.result else start.plan,
        findings=tuple(_find_or_explain(subtask, found, start.dropped) for subtask in start.plan.subtasks),
        notes=make_notes(written.notes),
        tape=tape_of(await stored_turns.list_tool_turns(database, run_id)),
        report=await living_runs.get_report(database, run_id),
        rubric=rubric.rubric if rubric else None,
        score=card.overall if card else None,
        lineage=await living_runs.get_lineage(database, run_id) or ReportLineage(),
        plan_usage=planning.usage,
        report_usage=written.usage,
    )


def _find_or_explain(subtask: Subtask, found: Mapping[str, Finding], dropped: tuple[str, ...]) -> Finding:
    """Return the stored finding, or one that says why there is none."""
    if subtask.id in found:
        return found[subtask.id]
    failed = Finding(subtask_id=subtask.id, stop=StopReason.FAILED, detail="its search failed")
    return make_dropped_finding(subtask) if subtask.id in dropped else failed
