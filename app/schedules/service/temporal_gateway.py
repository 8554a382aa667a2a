"""Hold schedules in Temporal. Its copy comes from the database and can be made anew at any time."""

from datetime import timedelta
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
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from app.domain.contract import RESEARCH_QUEUE
from app.domain.errors import InvalidInput, RubricaError, Unavailable
from app.domain.schedules import LIVING_WORKFLOW, Firings, Overlap, Timing, schedule_workflow_id
from app.runs.service.temporal_gateway import connect

LIMIT = timedelta(seconds=10)
CATCH_UP = timedelta(days=7)
"""After an outage, firings due within this time are made up for: the first at once; the others find it under way or done."""
OVERLAPS = {Overlap.SKIP: ScheduleOverlapPolicy.SKIP, Overlap.WAIT: ScheduleOverlapPolicy.BUFFER_ONE}


class TemporalSchedules:
    """A `ScheduleGateway` over Temporal at `address` (`host:port`). It connects with the first call."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._client: Client | None = None

    async def put(self, schedule: UUID, timing: Timing, paused: bool) -> None:
        """Create or update a schedule."""
        wanted = _schedule_of(schedule, timing, paused)
        client = await self._get_client()
        try:
            await client.create_schedule(schedule_workflow_id(schedule), wanted, rpc_timeout=LIMIT)
        except ScheduleAlreadyRunningError:
            await self._update(client, schedule, wanted)
        except RPCError as error:
            raise _error_of(error) from error

    async def trigger(self, schedule: UUID) -> None:
        """Ask once, now; an asking under way counts as this one."""
        client = await self._get_client()
        try:
            await client.get_schedule_handle(schedule_workflow_id(schedule)).trigger(rpc_timeout=LIMIT)
        except RPCError as error:
            raise _error_of(error) from error

    async def remove(self, schedule: UUID) -> None:
        """Delete a schedule, if it exists."""
        client = await self._get_client()
        try:
            await client.get_schedule_handle(schedule_workflow_id(schedule)).delete(rpc_timeout=LIMIT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise _error_of(error) from error

    async def _update(self, client: Client, schedule: UUID, wanted: Schedule) -> None:
        def make_update(_: ScheduleUpdateInput) -> ScheduleUpdate:
            return ScheduleUpdate(schedule=wanted)

        try:
            await client.get_schedule_handle(schedule_workflow_id(schedule)).update(make_update, rpc_timeout=LIMIT)
        except RPCError as error:
            raise _error_of(error) from error

    async def _get_client(self) -> Client:
        if self._client is None:
            try:
                self._client = await connect(self._address)
            except RubricaError as error:
                raise Unavailable(str(error)) from error
        return self._client


def _schedule_of(schedule: UUID, timing: Timing, paused: bool) -> Schedule:
    action = ScheduleActionStartWorkflow(
        LIVING_WORKFLOW, Firings(schedule_id=schedule), id=schedule_workflow_id(schedule), task_queue=RESEARCH_QUEUE
    )
    spec = ScheduleSpec(
        cron_expressions=[timing.cron], time_zone_name=timing.time_zone, jitter=timedelta(seconds=timing.jitter_s)
    )
    policy = SchedulePolicy(overlap=OVERLAPS[timing.overlap], catchup_window=CATCH_UP)
    return Schedule(action=action, spec=spec, policy=policy, state=ScheduleState(paused=paused))


def _error_of(error: RPCError) -> RubricaError:
    if error.status is RPCStatusCode.INVALID_ARGUMENT:
        return InvalidInput(f"the workflow service refuses this timing: {error.message}")
    return Unavailable(f"the workflow service does not answer: {error.message}")
