"""The activities of research runs: one for a stage or for several searches, and those that store a run's status.

Errors of agents end here as values; see `failures` for the rest.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import orjson
from temporalio import activity

from app.database.engine import translate_outages
from app.domain.budget import StopReason
from app.domain.contract import Halt
from app.domain.plan import ResearchPlan
from app.domain.run import EventType
from app.domain.served_models import ModelRole
from app.runs.storage import refusals, steering
from app.runs.storage.run_log import RunLog
from workflows.agents.ports import BudgetSpent
from workflows.agents.second_round import plan_second_round
from workflows.agents.simple_plan import make_single_plan
from workflows.agents.stage_memory import PLANNER, SECOND_PLANNER, memory_of_report, path_of_search
from workflows.durable import payloads
from workflows.durable.persistence import persist
from workflows.durable.report_stage import run_report_stage
from workflows.durable.rubric_stage import draft_for_run
from workflows.durable.search_stage import run_search, run_searches
from workflows.durable.stage_running import perform_stage, report_work
from workflows.durable.workshop import REPORT_STAGE, StageAttempt, StageOutcome, Workshop

log = logging.getLogger(__name__)


class StageActivities:
    """The activities of one worker."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    @property
    def list_activities(self) -> list[Callable[..., Awaitable[Any]]]:
        """The activities to register with the worker."""
        return [
            self.plan,
            self.second_plan,
            self.search,
            self.searches,
            self.report,
            self.settle,
            self.steer,
            self.control,
            self.wish,
            self.reopen,
        ]

    @activity.defn(name=payloads.PLAN_ACTIVITY)
    async def plan(self, request: payloads.StageRequest) -> ResearchPlan:
        """Make and store the plan. When the planning agent fails, the question itself is the only subtask."""

        async def work(attempt: StageAttempt) -> ResearchPlan:
            plan = await self._make_plan(attempt)
            if request.query.rubric:
                await draft_for_run(attempt, plan)
            body = plan.model_dump_json().encode()

            async def keep(log: RunLog) -> None:
                await log.save_plan(request.run_id, plan, (), EventType.PLAN_MADE)

            told = {"stop": StopReason.SUFFICIENT, "detail": "", "quotes": 0, "sources": 0}
            await attempt.close(StageOutcome(body, told), keep)
            return plan

        return await perform_stage(self._shop, request, "plan", "", (), work, ResearchPlan.of_any_version)

    @activity.defn(name=payloads.SECOND_PLAN_ACTIVITY)
    async def second_plan(self, request: payloads.SecondPlanRequest) -> payloads.SecondPlan:
        """Plan a second round. The workflow adds its subtasks to the plan, which a person may have changed meanwhile."""
        needs = [path_of_search(subtask_id) for subtask_id in request.stored]

        async def work(attempt: StageAttempt) -> payloads.SecondPlan:
            plan, found = request.plan, attempt.needed_findings
            kit = attempt.make_kit(memory_of_report(plan, found, attempt.notes), attempt.models[ModelRole.PLANNER])
            further = await plan_second_round(request.query, plan, found, kit)
            told = {"stop": StopReason.SUFFICIENT, "detail": "", "quotes": 0, "sources": 0}
            second = payloads.SecondPlan(subtasks=further)
            await attempt.close(StageOutcome(second.model_dump_json().encode(), told))
            return second

        return await perform_stage(self._shop, request, SECOND_PLANNER, "", needs, work, payloads.SecondPlan.model_validate_json)

    @activity.defn(name=payloads.SEARCH_ACTIVITY)
    async def search(self, request: payloads.SearchRequest) -> payloads.SearchOutcome:
        """Run one deep search."""
        async with report_work(self._shop, request):
            return await run_search(self._shop, request)

    @activity.defn(name=payloads.SEARCHES_ACTIVITY)
    async def searches(self, request: payloads.SearchesRequest) -> payloads.SearchesOutcome:
        """Run deep searches that begin together, each as a stage of its own."""
        async with report_work(self._shop, request):
            return await run_searches(self._shop, request)

    @activity.defn(name=payloads.REPORT_ACTIVITY)
    async def report(self, request: payloads.ReportRequest) -> str:
        """Write, store and render the report, and complete the run. Return the report's title."""
        needs = [path_of_search(subtask_id) for subtask_id in request.stored]

        async def work(attempt: StageAttempt) -> str:
            return await run_report_stage(request, attempt)

        return await perform_stage(
            self._shop, request, REPORT_STAGE, "", needs, work, lambda body: str(orjson.loads(body)["title"])
        )

    @activity.defn(name=payloads.SETTLE_ACTIVITY)
    async def settle(self, to: payloads.Settlement) -> None:
        """Move the run to a status."""
        await persist(lambda: self._shop.log.set_status(to.run_id, to.status, to.detail, to.options, to.reason))

    @activity.defn(name=payloads.CONTROL_ACTIVITY)
    async def control(self, control: payloads.ControlWish) -> None:
        """Write a wish into the run's ledger."""
        await persist(
            lambda: steering.set_control(self._shop.database, control.run_id, control.wish, replacing=(control.replacing,))
        )

    @activity.defn(name=payloads.WISH_ACTIVITY)
    async def wish(self, run_id: UUID) -> payloads.Wish:
        """Return the reader's current wish for the run."""
        control = await persist(lambda: steering.get_control(self._shop.database, run_id))
        start = await persist(lambda: self._shop.log.load(run_id))
        return payloads.Wish(control=control or Halt.CANCEL, finish=start.finish, approved=start.approved)

    @activity.defn(name=payloads.REOPEN_ACTIVITY)
    async def reopen(self, run_id: UUID) -> payloads.Reopened:
        """Open anew what the reason of the run's last pause had cost."""
        plan = await persist(lambda: self._reopen_refused(run_id))
        start = await persist(lambda: self._shop.log.load(run_id))
        return payloads.Reopened(plan=plan, models=start.query.models)

    async def _reopen_refused(self, run_id: UUID) -> bool:
        async with translate_outages(), self._shop.database.acquire() as connection, connection.transaction():
            return await refusals.reopen_refused(connection, run_id)

    @activity.defn(name=payloads.STEER_ACTIVITY)
    async def steer(self, steered: payloads.SteeredPlan) -> None:
        """Store the plan as a person or a second round changed it, and stop the searches that are dropped or not in it."""
        await persist(lambda: self._keep_plan(steered))

    async def _keep_plan(self, steered: payloads.SteeredPlan) -> None:
        async with translate_outages(), self._shop.database.acquire() as connection, connection.transaction():
            run_log = RunLog(connection)
            # This comes first, because it locks the ledger's row: all writers lock that row before the row of a stage.
            saved = await run_log.save_plan(steered.run_id, steered.plan, steered.dropped, EventType.PLAN_REVISED)
            if saved is None:
                return  # already done, or a later change came first: then its searches must not be dropped
            for subtask_id in steered.dropped:
                await run_log.drop_stage(steered.run_id, path_of_search(subtask_id))
            wanted = [path_of_search(s.id) for s in steered.plan.subtasks if s.id not in steered.dropped]
            await run_log.drop_other_searches(steered.run_id, wanted)

    async def _make_plan(self, attempt: StageAttempt) -> ResearchPlan:
        query, model = attempt.request.query, attempt.models[ModelRole.PLANNER]
        try:
            return await self._shop.agents_of(query, model).plan(query, attempt.make_kit(attempt.notes, model))
        except BudgetSpent:
            return make_single_plan(query)
        except Exception as error:
            log.exception("run %s: planning failed", attempt.request.run_id)
            await attempt.record.tell(EventType.WARNING, PLANNER, {"message": f"planning failed: {error}"})
            return make_single_plan(query)
