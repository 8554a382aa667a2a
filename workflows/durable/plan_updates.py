"""A person's changes to a run's plan, the same while the run works and while it waits."""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from app.domain.contract import Command, PlanRevision, SubtaskAddition, SubtaskRemoval
    from app.domain.errors import RubricaError
    from app.domain.plan import ResearchPlan
    from app.domain.value import Value
    from workflows.durable import failures, payloads, policies
    from workflows.systems.steering import PlanSteering

PlanChange = Callable[[PlanSteering], ResearchPlan]
R = TypeVar("R")


class PlanUpdates:
    """The updates of both workflows. A change is tried on a copy first, so that a refused change leaves no trace in history."""

    def __init__(self, run_id: UUID, steering: PlanSteering) -> None:
        self._run_id = run_id
        self._steering = steering

    @workflow.update(name=Command.REVISE_PLAN)
    async def revise_plan(self, change: PlanRevision) -> ResearchPlan:
        """Replace the plan."""
        return await self._apply_change(lambda steering: steering.revise(change.plan))

    @revise_plan.validator
    def _may_revise(self, change: PlanRevision) -> None:
        self._try_change(lambda steering: steering.revise(change.plan))

    @workflow.update(name=Command.ADD_SUBTASK)
    async def add_subtask(self, change: SubtaskAddition) -> ResearchPlan:
        """Add a subtask."""
        return await self._apply_change(lambda steering: steering.add(change.subtask))

    @add_subtask.validator
    def _may_add(self, change: SubtaskAddition) -> None:
        self._try_change(lambda steering: steering.add(change.subtask))

    @workflow.update(name=Command.DROP_SUBTASK)
    async def drop_subtask(self, change: SubtaskRemoval) -> ResearchPlan:
        """Drop a subtask."""
        return await self._apply_change(lambda steering: steering.drop(change.subtask_id))

    @drop_subtask.validator
    def _may_drop(self, change: SubtaskRemoval) -> None:
        self._try_change(lambda steering: steering.drop(change.subtask_id))

    def _try_change(self, change: PlanChange) -> None:
        copy = PlanSteering(self._steering.plan, self._steering.dropped)
        copy.closed = self._steering.closed
        _change_or_refuse(change, copy)

    async def _apply_change(self, change: PlanChange) -> ResearchPlan:
        """Apply a change, then store it. It is applied at once, so that nothing can come between check and change."""
        plan = _change_or_refuse(change, self._steering)
        steered = payloads.SteeredPlan(run_id=self._run_id, plan=plan, dropped=self._steering.dropped)
        await run_bookkeeping(payloads.STEER_ACTIVITY, steered)
        return plan


async def run_bookkeeping(activity: str, what: Value | UUID, returns: type[R] | None = None) -> R:
    """Run an activity that makes one transaction in PostgreSQL, repeated until it is done."""
    result: R = await workflow.execute_activity(
        activity,
        what,
        result_type=returns,
        start_to_close_timeout=policies.BOOKKEEPING_LIMIT,
        retry_policy=policies.BOOKKEEPING_RETRIES,
    )
    return result


def _change_or_refuse(change: PlanChange, steering: PlanSteering) -> ResearchPlan:
    try:
        return change(steering)
    except (RubricaError, ValueError) as error:
        raise failures.make_refusal(error) from error
