"""Stages as activities: the durable counterpart of `LocalStages`. It runs inside the workflow."""

import asyncio
from dataclasses import dataclass, field
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
    from workflows.durable.plan_updates import run_bookkeeping
    from workflows.systems.stages import StageFailed

R = TypeVar("R")


@dataclass
class _SearchGroup:
    """Searches that begin at the same moment, over the same plan."""

    plan: ResearchPlan
    subtask_ids: list[str] = field(default_factory=list)
    ended: asyncio.Task[payloads.SearchesOutcome] = field(init=False)


class DurableStages:
    """One activity for each stage, or for several searches. Findings return without evidence, and reports return empty.

    The full ones are in PostgreSQL. A reader's signal sets `halt`, which keeps further stages from beginning. `start` may be
    replaced when the run goes on with other models.
    """

    def __init__(self, start: ResearchInput) -> None:
        self.start = start
        self._begun = False
        self._stored: set[str] = set()
        self._beginning: _SearchGroup | None = None
        self.halt = Halt.NONE

    async def plan(self, query: ResearchQuery) -> ResearchPlan:
        """Return the plan, which the planning stage has also stored."""
        request = payloads.StageRequest(**self._common_fields(query))
        return await self._run_stage(payloads.PLAN_ACTIVITY, "plan", request, ResearchPlan)

    async def search(self, subtask: Subtask, plan: ResearchPlan) -> Finding:
        """Return how the search on this subtask ended.

        Searches that begin at the same moment share one activity, because the workflow decides nothing before all of them have
        ended. A search that another subtask depends on is an activity of its own, so that the other can begin early.
        """
        if plan.is_awaited(subtask.id):
            return (await self._search_alone(subtask.id, plan)).to_finding()
        beginning = self._beginning
        if beginning is None or beginning.plan is not plan:
            beginning = self._beginning = _SearchGroup(plan)
            beginning.ended = asyncio.create_task(self._search_together(beginning))
        beginning.subtask_ids.append(subtask.id)
        outcomes = await beginning.ended
        for failed in outcomes.failed:
            if failed.subtask_id == subtask.id:
                raise StageFailed(failed.detail)
        return next(ended.to_finding() for ended in outcomes.ended if ended.subtask_id == subtask.id)

    async def plan_second_round(self, plan: ResearchPlan, findings: tuple[Finding, ...]) -> tuple[Subtask, ...]:
        """Return the further subtasks; none when the run is to finish."""
        if self.start.finish:
            return ()
        stored = tuple(f.subtask_id for f in findings if f.subtask_id in self._stored)
        request = payloads.SecondPlanRequest(**self._common_fields(self.start.query), plan=plan, stored=stored)
        return (await self._run_stage(payloads.SECOND_PLAN_ACTIVITY, "second_plan", request, payloads.SecondPlan)).subtasks

    async def keep_plan(self, plan: ResearchPlan, dropped: tuple[str, ...]) -> None:
        """Store the plan, in the order of its revisions with what a person changes."""
        steered = payloads.SteeredPlan(run_id=self.start.run_id, plan=plan, dropped=dropped)
        await run_bookkeeping(payloads.STEER_ACTIVITY, steered)

    async def report(self, plan: ResearchPlan, findings: tuple[Finding, ...]) -> Report:
        """Return an empty report with its title; the stage stores the whole report and completes the run."""
        missing = tuple(
            payloads.SearchOutcome(subtask_id=f.subtask_id, stop=f.stop, detail=f.detail)
            for f in findings
            if f.subtask_id not in self._stored
        )
        stored = tuple(f.subtask_id for f in findings if f.subtask_id in self._stored)
        request = payloads.ReportRequest(**self._common_fields(self.start.query), plan=plan, stored=stored, missing=missing)
        title = await self._run_stage(payloads.REPORT_ACTIVITY, "report", request, str)
        return Report(title=title, sections=())

    async def _search_together(self, these: "_SearchGroup") -> payloads.SearchesOutcome:
        """Run the group. A workflow's tasks run in order, so all searches of this moment have joined before it starts."""
        if self._beginning is these:
            self._beginning = None
        ids, plan = tuple(these.subtask_ids), these.plan
        if len(ids) == 1:
            return payloads.SearchesOutcome(ended=(await self._search_alone(ids[0], plan),))
        request = payloads.SearchesRequest(**self._common_fields(self.start.query), plan=plan, subtask_ids=ids)
        outcome = await self._run_stage(payloads.SEARCHES_ACTIVITY, f"searches/{ids[0]}", request, payloads.SearchesOutcome)
        self._stored.update(ended.subtask_id for ended in outcome.ended)
        return outcome

    async def _search_alone(self, subtask_id: str, plan: ResearchPlan) -> payloads.SearchOutcome:
        request = payloads.SearchRequest(**self._common_fields(self.start.query), plan=plan, subtask_id=subtask_id)
        outcome = await self._run_stage(payloads.SEARCH_ACTIVITY, f"search/{subtask_id}", request, payloads.SearchOutcome)
        self._stored.add(subtask_id)
        return outcome

    def _common_fields(self, query: ResearchQuery) -> dict[str, object]:
        begins = not self._begun
        self._begun = True
        return {"run_id": self.start.run_id, "query": query, "finish": self.start.finish, "begins": begins}

    async def _run_stage(self, activity: str, stage: str, request: payloads.StageRequest, returns: type[R]) -> R:
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
            raise _translate_failure(error) from error
        return result


def _translate_failure(error: ActivityError) -> BaseException:
    """Return what an activity's failure means to a system: a cancellation, a halt, or a stage that failed for good."""
    if is_cancelled_exception(error):
        return asyncio.CancelledError()
    return failures.halt_in(error) or StageFailed(failures.reason_in(error))
