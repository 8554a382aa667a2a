"""Cycles of retraining in Temporal: their workflows, and the times at which plans begin new ones."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
)
from temporalio.common import Priority, WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode

from app.domain.contract import RESEARCH_QUEUE
from app.domain.errors import InvalidInput, NotFound, RubricaError, Unavailable
from app.domain.retraining import CYCLE_WAKE, RETRAINING_WORKFLOW, CycleInput
from app.models.service.cycle_gateway import PlanTimes
from app.models.service.plan_files import copy_plan, read_plan, stored_plan
from app.runs.service.temporal_gateway import BACKGROUND_PRIORITY, connect

LIMIT = timedelta(seconds=10)


async def start_cycle(client: Client, cycle: UUID) -> None:
    """Start the workflow of a cycle; an open one is woken instead."""
    await client.start_workflow(
        RETRAINING_WORKFLOW,
        CycleInput(cycle_id=cycle),
        id=f"retraining-{cycle}",
        task_queue=RESEARCH_QUEUE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        start_signal=CYCLE_WAKE,
        priority=Priority(priority_key=BACKGROUND_PRIORITY),
        rpc_timeout=LIMIT,
    )


class TemporalCycles:
    """A `CycleGateway` over Temporal at `address` (`host:port`). It connects with the first call.

    Raises:
        Unavailable: the workflow service does not answer.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._client: Client | None = None

    async def wake_cycle(self, cycle: UUID) -> None:
        """Start the workflow of a cycle; an open one is woken instead."""
        client = await self._connect()
        try:
            await start_cycle(client, cycle)
        except RPCError as error:
            raise _error_of(error) from error

    async def find_times(self, plan: str) -> PlanTimes | None:
        """Return when cycles of a plan start; None where nothing is scheduled."""
        client = await self._connect()
        try:
            found = await client.get_schedule_handle(_id_of(plan)).describe(rpc_timeout=LIMIT)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise _error_of(error) from error
        state = found.schedule.state
        following = None if state.paused else next(iter(found.info.next_action_times), None)
        return PlanTimes(state.note or "", found.schedule.spec.time_zone_name or "UTC", following)

    async def schedule_plan(self, folder: Path, path: Path, cron: str, time_zone: str = "UTC") -> str:
        """Keep a copy of a plan, and start a cycle of it at these times; return its name. Its times of before are replaced.

        Raises:
            InvalidInput: the plan cannot be read, or the times are none.
        """
        plan = read_plan(path)
        client = await self._connect()
        copy_plan(path, plan, stored_plan(folder, plan.name).parent)
        wanted = _schedule_of(plan.name, cron, time_zone)
        try:
            await client.create_schedule(_id_of(plan.name), wanted, rpc_timeout=LIMIT)
        except ScheduleAlreadyRunningError:
            handle = client.get_schedule_handle(_id_of(plan.name))
            await handle.update(lambda _: ScheduleUpdate(schedule=wanted), rpc_timeout=LIMIT)
        except RPCError as error:
            raise _error_of(error) from error
        return plan.name

    async def remove_schedule(self, name: str) -> None:
        """End the times of a plan.

        Raises:
            NotFound: the plan has none.
        """
        client = await self._connect()
        try:
            await client.get_schedule_handle(_id_of(name)).delete(rpc_timeout=LIMIT)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise NotFound(f"the plan {name!r} has no schedule") from error
            raise _error_of(error) from error

    async def _connect(self) -> Client:
        if self._client is None:
            try:
                self._client = await connect(self._address)
            except RubricaError as error:
                raise Unavailable(str(error)) from error
        return self._client


def _id_of(name: str) -> str:
    return f"retraining-plan-{name}"


def _schedule_of(name: str, cron: str, time_zone: str) -> Schedule:
    action = ScheduleActionStartWorkflow(RETRAINING_WORKFLOW, CycleInput(plan=name), id=_id_of(name), task_queue=RESEARCH_QUEUE)
    # An asking that is due while the one before it goes on is left out: its votes are learned from by the next.
    policy = SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP)
    spec = ScheduleSpec(cron_expressions=[cron], time_zone_name=time_zone)
    # Temporal keeps the times as calendars; the note tells them as they were set.
    return Schedule(action=action, spec=spec, policy=policy, state=ScheduleState(note=cron))


def _error_of(error: RPCError) -> InvalidInput | Unavailable:
    if error.status is RPCStatusCode.INVALID_ARGUMENT:
        return InvalidInput(f"the workflow service refuses this timing: {error.message}")
    return Unavailable(f"the workflow service does not answer: {error.message}")
