"""The workflow of one change of a report, or one question to its evidence. PostgreSQL starts it anew when it is lost."""

from temporalio import workflow
from temporalio.common import VersioningBehavior
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from app.domain.contract import REPORT_TASK_WORKFLOW, Halt, ReportTaskInput
    from workflows.durable import failures, payloads, policies

AT_BUDGET = "the run's budget is reached; raise it, then ask again"


@workflow.defn(name=REPORT_TASK_WORKFLOW, versioning_behavior=VersioningBehavior.AUTO_UPGRADE)
class ReportTaskWorkflow:
    """Runs the task's activity; when that fails for good, stores the reason."""

    @workflow.run
    async def run(self, given: ReportTaskInput) -> None:
        """Run until the task has ended."""
        try:
            await workflow.execute_activity(
                payloads.REPORT_TASK_ACTIVITY,
                given,
                start_to_close_timeout=policies.STAGE_LIMIT,
                heartbeat_timeout=policies.HEARTBEAT_LIMIT,
                retry_policy=policies.STAGE_RETRIES,
            )
        except ActivityError as error:
            await workflow.execute_activity(
                payloads.FAIL_TASK_ACTIVITY,
                payloads.FailedTask(run_id=given.run_id, task_id=given.task_id, detail=_reason_of(error)),
                start_to_close_timeout=policies.BOOKKEEPING_LIMIT,
                retry_policy=policies.BOOKKEEPING_RETRIES,
            )


def _reason_of(error: ActivityError) -> str:
    halted = failures.halt_in(error)
    if halted is None:
        return failures.reason_in(error)
    if halted.halt is Halt.BUDGET:
        return AT_BUDGET
    return halted.reason or f"the run is halted ({halted.halt.value})"
