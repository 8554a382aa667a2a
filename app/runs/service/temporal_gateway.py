"""Start workflows and pass commands to them, over Temporal."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from temporalio.api.enums.v1 import WorkerStatus
from temporalio.api.workflowservice.v1 import ListWorkersRequest
from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import Priority, WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError
from temporalio.runtime import Runtime
from temporalio.service import RPCError, RPCStatusCode

from app.domain.contract import (
    DRAFT_WORKFLOW,
    REPORT_TASK_WORKFLOW,
    RESEARCH_QUEUE,
    RESEARCH_WORKFLOW,
    Command,
    Draft,
    DraftRequest,
    PlanRevision,
    ReportTaskInput,
    ResearchInput,
    SubtaskAddition,
    SubtaskRemoval,
    task_workflow_id,
    workflow_id,
)
from app.domain.errors import Conflict, InvalidInput, NotFound, RubricaError, SetupError, Unavailable
from app.domain.fleets import FLEET_WORKFLOW, WAKE, FleetInput, fleet_workflow_id
from app.domain.plan import ResearchPlan
from app.runs.service.temporal_payloads import noun_converter

NAMESPACE = "default"
CONNECT_LIMIT = timedelta(seconds=10)
COMMAND_LIMIT = timedelta(seconds=10)
STARTING_MESSAGE = "Frontend is not healthy yet"
STARTING_POLL = timedelta(milliseconds=100)
BACKGROUND_PRIORITY = 5
"""Temporal's lowest priority; 3 is the usual one."""
MOST_WORKERS = 1_000
# Workers report themselves every five seconds.
WORKER_SILENCE = timedelta(seconds=15)
DRAFT_LIMIT = timedelta(seconds=100)
_REFUSALS: dict[str, type[RubricaError]] = {kind.__name__: kind for kind in (Conflict, InvalidInput, NotFound)}
_CAUSES = {
    "h2 protocol error": "something answers there that is not Temporal (expected its gRPC address, usually port 7233)",
    "dns error": "the host name is not known",
    "Connection refused": "nothing listens there; is the server running?",
    "Unimplemented": "a gRPC server answers there, but it is not Temporal",
    "amespace": f"the server has no namespace {NAMESPACE!r}",
}


async def connect(address: str, runtime: Runtime | None = None) -> Client:
    """Connect to the Temporal server at `address` (`host:port`).

    Raises:
        SetupError: nothing answers there, or something that is not Temporal.
    """
    try:
        async with asyncio.timeout(CONNECT_LIMIT.total_seconds()):
            return await _connect_patiently(address, runtime)
    except TimeoutError as error:
        raise SetupError(_describe_failure(address, f"no answer within {CONNECT_LIMIT.total_seconds():.0f} s")) from error
    except (RuntimeError, ValueError) as error:
        raise SetupError(_describe_failure(address, _cause_of(str(error)))) from error


async def _connect_patiently(address: str, runtime: Runtime | None) -> Client:
    """Return a client, waiting while the server starts: it accepts connections a moment before it serves."""
    while True:
        try:
            return await Client.connect(address, namespace=NAMESPACE, data_converter=noun_converter, runtime=runtime)
        except RuntimeError as error:
            if STARTING_MESSAGE not in str(error):
                raise
            await asyncio.sleep(STARTING_POLL.total_seconds())


async def start_fleet(client: Client, request: FleetInput) -> None:
    """Start a fleet's workflow; an open one is woken instead."""
    await client.start_workflow(
        FLEET_WORKFLOW,
        request,
        id=fleet_workflow_id(request.fleet_id),
        task_queue=RESEARCH_QUEUE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        start_signal=WAKE,
        priority=Priority(priority_key=BACKGROUND_PRIORITY, fairness_key=str(request.organisation_id)),
        rpc_timeout=COMMAND_LIMIT,
    )


class TemporalGateway:
    """A `RunGateway` over Temporal at `address` (`host:port`). It connects with the first command, so the API may start first.

    A command that is not answered within `limit` has failed.
    """

    def __init__(self, address: str, limit: timedelta = COMMAND_LIMIT) -> None:
        self._address = address
        self._limit = limit
        self._client: Client | None = None
        self._connecting = asyncio.Lock()

    async def start(self, request: ResearchInput) -> None:
        """Start the run's workflow, unless one is open."""
        client = await self._get_client()
        async with _translate_errors(request.run_id):
            await client.start_workflow(
                RESEARCH_WORKFLOW,
                request,
                id=workflow_id(request.run_id),
                task_queue=RESEARCH_QUEUE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                priority=priority_of(request),
                rpc_timeout=self._limit,
            )

    async def start_task(self, run_id: UUID, task_id: UUID) -> None:
        """Start a task's workflow, unless one is open."""
        client = await self._get_client()
        async with _translate_errors(run_id):
            await client.start_workflow(
                REPORT_TASK_WORKFLOW,
                ReportTaskInput(run_id=run_id, task_id=task_id),
                id=task_workflow_id(task_id),
                task_queue=RESEARCH_QUEUE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                rpc_timeout=self._limit,
            )

    async def wake_fleet(self, request: FleetInput) -> None:
        """Start the fleet's workflow; an open one is woken instead."""
        client = await self._get_client()
        async with _translate_errors(request.fleet_id):
            await start_fleet(client, request)

    async def pause(self, run_id: UUID) -> None:
        """Stop before the next turn of every agent."""
        await self._signal(run_id, Command.PAUSE)

    async def resume(self, run_id: UUID, finish: bool) -> None:
        """Continue the run; with `finish`, to a report from the evidence so far."""
        await self._signal(run_id, Command.FINISH if finish else Command.RESUME)

    async def approve(self, run_id: UUID) -> None:
        """Continue with the plan as it stands."""
        await self._signal(run_id, Command.APPROVE)

    async def cancel(self, run_id: UUID) -> None:
        """End the run."""
        await self._signal(run_id, Command.CANCEL)

    async def revise_plan(self, run_id: UUID, revision: PlanRevision) -> ResearchPlan:
        """Replace the plan; return the accepted plan."""
        return await self._update(run_id, Command.REVISE_PLAN, revision)

    async def add_subtask(self, run_id: UUID, addition: SubtaskAddition) -> ResearchPlan:
        """Add a subtask; return the accepted plan."""
        return await self._update(run_id, Command.ADD_SUBTASK, addition)

    async def drop_subtask(self, run_id: UUID, removal: SubtaskRemoval) -> ResearchPlan:
        """Drop a subtask; return the accepted plan."""
        return await self._update(run_id, Command.DROP_SUBTASK, removal)

    async def draft(self, request: DraftRequest) -> Draft:
        """Let a worker draft something; wait at most `DRAFT_LIMIT`."""
        client = await self._get_client()
        try:
            draft: Draft = await client.execute_workflow(
                DRAFT_WORKFLOW,
                request,
                id=f"draft-{uuid4()}",
                task_queue=RESEARCH_QUEUE,
                result_type=Draft,
                execution_timeout=DRAFT_LIMIT,
            )
        except (WorkflowFailureError, RPCError) as error:
            raise Unavailable("no worker could draft this just now; repeat the request") from error
        return draft

    async def check(self) -> None:
        """Return when Temporal answers."""
        client = await self._get_client()
        try:
            answers = await client.service_client.check_health(timeout=self._limit)
        except RPCError as error:
            raise Unavailable(f"Temporal does not answer: {error.message}") from error
        if not answers:
            raise Unavailable("Temporal is not ready")

    async def check_workers(self) -> str:
        """Return which workers are silent; raise when all are. Older servers know none, nor do new ones for some seconds."""
        client = await self._get_client()
        try:
            request = ListWorkersRequest(namespace=NAMESPACE, page_size=MOST_WORKERS)
            listed = await client.workflow_service.list_workers(request, timeout=self._limit)
        except RPCError as error:
            if error.status is RPCStatusCode.UNIMPLEMENTED:
                return ""
            raise Unavailable(f"Temporal does not answer: {error.message}") from error
        heard = [info.worker_heartbeat for info in listed.workers_info]
        running = [each for each in heard if each.status == WorkerStatus.WORKER_STATUS_RUNNING]
        oldest = datetime.now(UTC) - WORKER_SILENCE
        silent = [each for each in running if each.heartbeat_time.ToDatetime(UTC) < oldest]
        if not running:
            return "no worker has reported itself yet"
        if len(silent) == len(running):
            raise Unavailable(f"no worker has reported itself for {WORKER_SILENCE.seconds} s; runs wait until one is back")
        return f"{len(silent)} of {len(running)} workers are silent; their runs go on elsewhere" if silent else ""

    async def _signal(self, run_id: UUID, command: Command) -> None:
        handle = await self._get_handle(run_id)
        async with _translate_errors(run_id):
            await handle.signal(command, rpc_timeout=self._limit)

    async def _update(self, run_id: UUID, command: Command, change: Any) -> ResearchPlan:
        """Execute an update with a time limit: without one it waits for as long as no worker runs the workflow."""
        handle = await self._get_handle(run_id)
        async with _translate_errors(run_id):
            plan: ResearchPlan = await handle.execute_update(command, change, result_type=ResearchPlan, rpc_timeout=self._limit)
        return plan

    async def _get_handle(self, run_id: UUID) -> WorkflowHandle[Any, Any]:
        return (await self._get_client()).get_workflow_handle(workflow_id(run_id))

    async def _get_client(self) -> Client:
        async with self._connecting:
            if self._client is None:
                try:
                    self._client = await connect(self._address)
                except SetupError as error:
                    raise Unavailable(str(error)) from error
            return self._client


@asynccontextmanager
async def _translate_errors(run_id: UUID) -> AsyncIterator[None]:
    """Raise Temporal's errors as ours."""
    try:
        yield
    except WorkflowUpdateFailedError as error:
        raise _refusal_of(error) from error
    except WorkflowUpdateRPCTimeoutOrCancelledError as error:
        raise Unavailable("no worker takes up the command just now; repeat it, it may still be carried out") from error
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise NotFound(f"no workflow of run {run_id} is open") from error
        raise Unavailable(f"Temporal does not answer: {error.message}") from error


def priority_of(request: ResearchInput) -> Priority:
    """Return the run's priority: organisations take turns, however many runs each has waiting; background runs come last.

    Everything that the workflow starts inherits the priority.
    """
    return Priority(
        priority_key=BACKGROUND_PRIORITY if request.background else None,
        fairness_key=str(request.organisation_id) if request.organisation_id else None,
    )


def _refusal_of(error: WorkflowUpdateFailedError) -> RubricaError:
    """Return the validator's reason as the error class it was raised with."""
    cause = error.cause
    if not isinstance(cause, ApplicationError):
        return Conflict(str(cause))
    return _REFUSALS.get(cause.type or "", Conflict)(cause.message)


def _describe_failure(address: str, cause: str) -> str:
    return f"cannot use the Temporal server at {address} (RUBRICA_TEMPORAL_ADDRESS): {cause}"


def _cause_of(text: str) -> str:
    return next((cause for sign, cause in _CAUSES.items() if sign in text), text)
