"""Hold the times of retraining in Temporal: each firing starts a cycle of a stored plan, unless one is under way."""

from datetime import timedelta
from pathlib import Path

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
)
from temporalio.service import RPCError, RPCStatusCode

from app.domain.contract import RESEARCH_QUEUE
from app.domain.errors import InvalidInput, NotFound, Unavailable
from app.domain.retraining import RETRAINING_WORKFLOW, CycleInput
from app.models.service.cycles import stored_plan
from app.models.service.plan_files import copy_plan, read_plan

LIMIT = timedelta(seconds=10)


async def schedule_plan(client: Client, folder: Path, path: Path, cron: str, time_zone: str = "UTC") -> str:
    """Keep a copy of a plan, and start a cycle of it at these times; return its name. A schedule of this name is replaced.

    Raises:
        InvalidInput: the plan cannot be read, or the times are none.
        Unavailable: the workflow service does not answer.
    """
    plan = read_plan(path)
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


async def remove_schedule(client: Client, name: str) -> None:
    """End the times of a plan.

    Raises:
        NotFound: the plan has none.
        Unavailable: the workflow service does not answer.
    """
    try:
        await client.get_schedule_handle(_id_of(name)).delete(rpc_timeout=LIMIT)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise NotFound(f"the plan {name!r} has no schedule") from error
        raise _error_of(error) from error


def _id_of(name: str) -> str:
    return f"retraining-plan-{name}"


def _schedule_of(name: str, cron: str, time_zone: str) -> Schedule:
    action = ScheduleActionStartWorkflow(RETRAINING_WORKFLOW, CycleInput(plan=name), id=_id_of(name), task_queue=RESEARCH_QUEUE)
    # An asking that is due while the one before it goes on is left out: its votes are learned from by the next.
    policy = SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP)
    return Schedule(action=action, spec=ScheduleSpec(cron_expressions=[cron], time_zone_name=time_zone), policy=policy)


def _error_of(error: RPCError) -> InvalidInput | Unavailable:
    if error.status is RPCStatusCode.INVALID_ARGUMENT:
        return InvalidInput(f"the workflow service refuses this timing: {error.message}")
    return Unavailable(f"the workflow service does not answer: {error.message}")
