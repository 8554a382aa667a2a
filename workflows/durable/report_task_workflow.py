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
    halt = failures.halt_in(error)
    if halt is Halt.BUDGET:
        return AT_BUDGET
    return f"the run is halted ({halt.value})" if halt else failures.reason_in(error)
