"""Stages as activities: the durable counterpart of `LocalStages`. Runs inside the workflow."""

import asyncio
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from app.domain.contract import Halt, ResearchInput
    from app.domain.evidence import Finding
    from app.domain.plan import ResearchPlan, Subtask
    from app.domain.query import ResearchQuery
    from app.domain.report import Report
    from workflows.durable import failures, payloads, policies
    from workflows.systems.stages import StageFailed

R = TypeVar("R")


class DurableStages:
    """One activity a stage. A finding comes back without its evidence, a report empty: both are in PostgreSQL.

    `halt` is set by a reader's signal, and keeps further stages from beginning.
    """

    def __init__(self, start: ResearchInput) -> None:
        self._start = start
        self._begun = False
        self._stored: set[str] = set()
        self.halt = Halt.NONE

    async def plan(self, query: ResearchQuery) -> ResearchPlan:
        """The plan, which the planning stage has also stored."""
        request = payloads.StageRequest(**self._common(query))
        return await self._run(payloads.PLAN_ACTIVITY, "plan", request, ResearchPlan)

    async def search(self, subtask: Subtask, plan: ResearchPlan) -> Finding:
        """How the search on this subtask ended."""
        seen = plan.as_seen_by(subtask.id)
        request = payloads.SearchRequest(**self._common(self._start.query), plan=seen, subtask_id=subtask.id)
        outcome = await self._run(payloads.SEARCH_ACTIVITY, f"search/{subtask.id}", request, payloads.SearchOutcome)
        self._stored.add(subtask.id)
        return outcome.finding()

    async def report(self, plan: ResearchPlan, findings: tuple[Finding, ...]) -> Report:
        """An empty report under its title; the stage stores the whole one and completes the run."""
        missing = tuple(
            payloads.SearchOutcome(subtask_id=f.subtask_id, stop=f.stop, detail=f.detail)
            for f in findings
            if f.subtask_id not in self._stored
        )
        stored = tuple(f.subtask_id for f in findings if f.subtask_id in self._stored)
        request = payloads.ReportRequest(**self._common(self._start.query), plan=plan, stored=stored, missing=missing)
        title = await self._run(payloads.REPORT_ACTIVITY, "report", request, str)
        return Report(title=title, sections=())

    def _common(self, query: ResearchQuery) -> dict[str, object]:
        begins = not self._begun
        self._begun = True
        return {"run_id": self._start.run_id, "query": query, "finish": self._start.finish, "begins": begins}

    async def _run(self, activity: str, stage: str, request: payloads.StageRequest, returns: type[R]) -> R:
        if self.halt is not Halt.NONE:
            raise failures.StageHalted(self.halt)
        try:
            result: R = await workflow.execute_activity(
                activity,
                request,
                activity_id=stage,
                result_type=returns,
                start_to_close_timeout=policies.STAGE_LIMIT,
                heartbeat_timeout=policies.HEARTBEAT_LIMIT,
                retry_policy=policies.STAGE_RETRIES,
            )
        except ActivityError as error:
            raise _meaning(error) from error
        return result


def _meaning(error: ActivityError) -> BaseException:
    """What an activity's failure is to a system: a cancellation, a halt, or a stage that failed for good."""
    if is_cancelled_exception(error):
        return asyncio.CancelledError()
    halt = failures.halt_in(error)
    return failures.StageHalted(halt) if halt else StageFailed(failures.reason_in(error))
