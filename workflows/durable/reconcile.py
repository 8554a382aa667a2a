"""Making sure that every unfinished run has a workflow that some worker can run: lost or stranded ones start anew."""

import asyncio
import logging
from uuid import UUID

import asyncpg
from pydantic import ValidationError
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import SearchAttributeKey, WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode

from app.domain.contract import PARKED_WORKFLOW, RESEARCH_QUEUE, RESEARCH_WORKFLOW, Halt, ResearchInput, workflow_id
from app.domain.errors import NotFound, RubricaError
from app.domain.run import RunStatus
from app.fleets.storage import fleets
from app.models.service.temporal_gateway import start_cycle
from app.models.storage import cycles
from app.runs.service.temporal_gateway import priority_of, start_fleet
from app.runs.storage import runs
from app.runs.storage.run_log import RunLog
from app.runs.storage.runs import UnfinishedRun
from workflows.durable.deployment import lead_or_yield, list_alive_builds
from workflows.durable.payloads import ParkedRun
from workflows.durable.policies import RECONCILE_EVERY

OPEN_WORKFLOWS = f"WorkflowType IN ('{RESEARCH_WORKFLOW}', '{PARKED_WORKFLOW}') AND ExecutionStatus = 'Running'"
# The version of a workflow in the server's list, `deployment:build`, and how the workflow is bound to it.
VERSION = SearchAttributeKey.for_keyword("TemporalWorkerDeploymentVersion")
BEHAVIOR = SearchAttributeKey.for_keyword("TemporalWorkflowVersioningBehavior")
PINNED = "Pinned"
WAITING = {
    RunStatus.PAUSED: Halt.PAUSE,
    RunStatus.BUDGET_REACHED: Halt.BUDGET,
    RunStatus.AWAITING_APPROVAL: Halt.APPROVAL,
}
log = logging.getLogger(__name__)


class Reconciler:
    """Compares the runs in PostgreSQL with the workflows that are open. `build` is this worker's own version."""

    def __init__(self, client: Client, database: asyncpg.Pool, build: str) -> None:
        self._client = client
        self._database = database
        self._build = build

    async def run_forever(self) -> None:
        """Compare now and every minute until cancelled, after any error: nobody else would find a lost run."""
        while True:
            try:
                await self.reconcile_once()
            except (RPCError, RubricaError) as error:
                log.warning("runs could not be compared with workflows: %s", error)
            except Exception:
                log.exception("unexpected error while runs were compared with workflows; they are compared again")
            await asyncio.sleep(RECONCILE_EVERY.total_seconds())

    async def reconcile_once(self) -> list[UUID]:
        """Start lost and stranded runs anew and return their ids. Wake every fleet and cycle that is at work.

        The first step makes sure that new workflows go to a version that has a worker.
        """
        await lead_or_yield(self._client, self._build)
        for fleet in await fleets.list_at_work(self._database):
            await start_fleet(self._client, fleet)
        for cycle in await cycles.list_under_way(self._database):
            await start_cycle(self._client, cycle.id)
        unfinished = await runs.list_unfinished(self._database)
        if not unfinished:
            return []
        open_workflows = await self._list_open()
        restarted = []
        for run in unfinished:
            stranded = open_workflows.get(workflow_id(run.id))
            if stranded or (stranded is None and not await self._is_open(run.id)):
                restarted += await self._try_restart(run, bool(stranded))
        return restarted

    async def _try_restart(self, run: UnfinishedRun, stranded: bool) -> list[UUID]:
        """Restart a run. A run that this version cannot read (a newer version made it) does not stop the others."""
        try:
            await self._restart(run, stranded)
        except (NotFound, ValidationError) as error:
            log.warning("run %s cannot be started by this version: %s", run.id, error)
            return []
        return [run.id]

    async def _is_open(self, run_id: UUID) -> bool:
        """Say whether a run's workflow is open. The server's list lags behind, so this asks for the one workflow."""
        try:
            described = await self._client.get_workflow_handle(workflow_id(run_id)).describe()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return False
        return described.status is WorkflowExecutionStatus.RUNNING

    async def _list_open(self) -> dict[str, bool]:
        """Return the open workflows, each with whether it is stranded: pinned to a version that no worker runs any more."""
        alive = await list_alive_builds(self._client) | {self._build}
        found = {}
        async for workflow in self._client.list_workflows(OPEN_WORKFLOWS):
            attributes = workflow.typed_search_attributes
            version = attributes.get(VERSION) or ""
            found[workflow.id] = attributes.get(BEHAVIOR) == PINNED and version.rpartition(":")[2] not in alive
        return found

    async def _restart(self, run: UnfinishedRun, stranded: bool) -> None:
        """Start a run's workflow anew. A run that waits gets a waiting workflow, which reads the reader's wishes itself."""
        start = (await RunLog(self._database).load(run.id)).model_copy(update={"reopens": True})
        halt = Halt(run.reason) if run.reason else WAITING.get(run.status)
        if halt is None:
            await self._start(RESEARCH_WORKFLOW, start, run.id, stranded)
        else:
            await self._start(PARKED_WORKFLOW, ParkedRun(start=start, halt=halt), run.id, stranded)
        reason = "its version is gone" if stranded else "no workflow was open"
        log.warning("run %s (%s) was started anew: %s", run.id, run.status, reason)

    async def _start(self, workflow: str, argument: ResearchInput | ParkedRun, run_id: UUID, stranded: bool) -> None:
        policy = WorkflowIDConflictPolicy.TERMINATE_EXISTING if stranded else WorkflowIDConflictPolicy.USE_EXISTING
        start = argument.start if isinstance(argument, ParkedRun) else argument
        await self._client.start_workflow(
            workflow,
            argument,
            id=workflow_id(run_id),
            task_queue=RESEARCH_QUEUE,
            id_conflict_policy=policy,
            priority=priority_of(start),
        )
