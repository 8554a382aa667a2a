"""A cycle of retraining: from readers' preferences to a promotion, or to a reason why not.

PostgreSQL knows the plan, the outcomes and what people wish; one activity takes the next step. So the workflow has no state: it
continues in a new history when the old one is long, and can be started anew at any time.
"""

from uuid import UUID

from temporalio import workflow
from temporalio.common import VersioningBehavior

with workflow.unsafe.imports_passed_through():
    from app.domain.retraining import CYCLE_WAKE, RETRAINING_WORKFLOW, CycleInput
    from workflows.durable import policies
    from workflows.durable.retraining.payloads import ADVANCE_CYCLE, BEGIN_CYCLE, CycleMove, PlannedCycle


@workflow.defn(name=RETRAINING_WORKFLOW, versioning_behavior=VersioningBehavior.AUTO_UPGRADE)
class RetrainingWorkflow:
    """Takes a cycle's steps one after the other."""

    def __init__(self) -> None:
        self._woken = False

    @workflow.run
    async def run(self, cycle: CycleInput) -> None:
        """Run until the cycle has ended."""
        if cycle.cycle_id is None:
            cycle = cycle.model_copy(update={"cycle_id": await self._begin(cycle.plan)})
        while (move := await self._advance(cycle)) is not CycleMove.OVER:
            if move is CycleMove.IDLE:
                await workflow.wait_condition(lambda: self._woken)
            if workflow.info().get_current_history_length() >= cycle.history:
                workflow.continue_as_new(cycle)

    @workflow.signal(name=CYCLE_WAKE)
    def wake(self) -> None:
        """Wake the workflow: somebody approved, or wishes something else."""
        self._woken = True

    async def _begin(self, plan: str) -> UUID:
        """Begin a cycle of a stored plan. Where one is under way, there is none of the new id, and nothing to do."""
        planned = PlannedCycle(plan=plan, cycle_id=workflow.uuid4())
        await workflow.execute_activity(
            BEGIN_CYCLE,
            planned,
            start_to_close_timeout=policies.BOOKKEEPING_LIMIT,
            retry_policy=policies.BOOKKEEPING_RETRIES,
        )
        return planned.cycle_id

    async def _advance(self, cycle: CycleInput) -> CycleMove:
        self._woken = False
        move: CycleMove = await workflow.execute_activity(
            ADVANCE_CYCLE,
            cycle,
            result_type=CycleMove,
            start_to_close_timeout=policies.STEP_LIMIT,
            heartbeat_timeout=policies.HEARTBEAT_LIMIT,
            retry_policy=policies.STAGE_RETRIES,
        )
        return move
