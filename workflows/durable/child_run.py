"""A research run that another workflow starts, and that then lives by itself."""

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

with workflow.unsafe.imports_passed_through():
    from app.domain.contract import RESEARCH_WORKFLOW, ResearchInput, workflow_id
    from app.runs.service.temporal_gateway import priority_of


async def begin_run(start: ResearchInput) -> None:
    """Start the run unless it is started already. It takes its organisation's turn and outlives the workflow that started it."""
    try:
        await workflow.start_child_workflow(
            RESEARCH_WORKFLOW,
            start,
            id=workflow_id(start.run_id),
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            parent_close_policy=workflow.ParentClosePolicy.ABANDON,
            priority=priority_of(start),
        )
    except WorkflowAlreadyStartedError:
        workflow.logger.info("run %s goes on already, or has ended", start.run_id)
