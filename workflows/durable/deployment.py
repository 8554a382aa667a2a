"""Which version of the code this worker runs, which versions are alive, and which one new work goes to."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeAlias

from temporalio.api.deployment.v1 import WorkerDeploymentInfo
from temporalio.api.enums.v1 import TaskQueueType, WorkerStatus
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.worker.v1 import WorkerHeartbeat
from temporalio.api.workflowservice.v1 import (
    DescribeTaskQueueRequest,
    DescribeWorkerDeploymentRequest,
    ListWorkersRequest,
    SetWorkerDeploymentCurrentVersionRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from app.domain.contract import DEPLOYMENT_NAME, RESEARCH_QUEUE
from workflows.code_digest import digest_code
from workflows.durable.policies import POLLER_SEEN_WITHIN, REGISTRATION_LIMIT, REGISTRATION_POLL, WORKER_SEEN_WITHIN

PACKAGES = ("app", "retrieval", "workflows")
WallClock: TypeAlias = Callable[[], datetime]
# The server does not know the version yet, or it was asked too often.
_NOT_YET = (RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.RESOURCE_EXHAUSTED)


def compute_build_id() -> str:
    """Return a digest of a worker's code and prompts: another digest is another version."""
    return digest_code(PACKAGES)


def _read_wall_clock() -> datetime:
    return datetime.now(UTC)


async def list_alive_builds(client: Client, clock: WallClock = _read_wall_clock) -> frozenset[str]:
    """Return the versions that have a worker on the queue now: they ask for work and have not stopped.

    A wall clock that was set forward makes no worker look dead: see `_latest_of`.
    """
    return await _list_polling_builds(client, clock) - await _list_stopped_builds(client, clock)


async def _list_stopped_builds(client: Client, clock: WallClock) -> frozenset[str]:
    """Return the versions whose workers have all reported their end or are silent for too long. Older servers report none."""
    try:
        listed = await client.workflow_service.list_workers(ListWorkersRequest(namespace=client.namespace, page_size=1_000))
    except RPCError as error:
        if error.status is not RPCStatusCode.UNIMPLEMENTED:
            raise
        return frozenset()
    reports = [info.worker_heartbeat for info in listed.workers_info]
    now = _latest_of(clock, (_reported_at(r) for r in reports))
    running = frozenset(
        r.deployment_version.build_id for r in reports if _is_running(r) and now - _reported_at(r) < WORKER_SEEN_WITHIN
    )
    return frozenset(r.deployment_version.build_id for r in reports) - running


def _is_running(report: WorkerHeartbeat) -> bool:
    return report.status == WorkerStatus.WORKER_STATUS_RUNNING


def _reported_at(report: WorkerHeartbeat) -> datetime:
    return report.heartbeat_time.ToDatetime(UTC)


async def _list_polling_builds(client: Client, clock: WallClock) -> frozenset[str]:
    """Return the versions that asked for work lately."""
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=RESEARCH_QUEUE),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    described = await client.workflow_service.describe_task_queue(request)
    asked = [(p.deployment_options.build_id, p.last_access_time.ToDatetime(UTC)) for p in described.pollers]
    now = _latest_of(clock, (moment for _, moment in asked))
    return frozenset(build for build, moment in asked if now - moment < POLLER_SEEN_WITHIN)


def _latest_of(clock: WallClock, told: Iterable[datetime]) -> datetime:
    """Return the latest reported time, or this machine's time if that is earlier.

    The asking worker itself reported a moment ago. So a local clock ahead of all reports is wrong, and so is a report ahead of
    the local clock.
    """
    return min(clock(), max(told, default=datetime.max.replace(tzinfo=UTC)))


async def become_current(client: Client, build: str) -> None:
    """Send new and resumed runs to this version, once the server knows that it has a worker.

    An older version does not take over again when its worker restarts while a newer version is at work.
    """
    async with asyncio.timeout(REGISTRATION_LIMIT.total_seconds()):
        while not await lead_or_yield(client, build):
            await asyncio.sleep(REGISTRATION_POLL.total_seconds())


async def lead_or_yield(client: Client, build: str) -> bool:
    """Make sure that new and resumed runs go to a version that has a worker: to this one, unless a newer one is at work.

    Return False while the server does not know this version yet. Call it again now and then: a server that lost its state has
    forgotten the current version, and after a rollback it would send work to a version that no worker runs.
    """
    try:
        asked = DescribeWorkerDeploymentRequest(namespace=client.namespace, deployment_name=DEPLOYMENT_NAME)
        described = await client.workflow_service.describe_worker_deployment(asked, retry=False)
        if await _leads_or_yields(client, described.worker_deployment_info, build):
            return True
        wanted = SetWorkerDeploymentCurrentVersionRequest(
            namespace=client.namespace, deployment_name=DEPLOYMENT_NAME, build_id=build, ignore_missing_task_queues=True
        )
        await client.workflow_service.set_worker_deployment_current_version(wanted, retry=False)
    except RPCError as error:
        if error.status not in _NOT_YET:
            raise
        return False
    return True


async def _leads_or_yields(client: Client, deployment: WorkerDeploymentInfo, build: str) -> bool:
    leader = deployment.routing_config.current_deployment_version.build_id
    if leader == build:
        return True
    led_before = any(
        v.deployment_version.build_id == build and v.HasField("last_current_time") for v in deployment.version_summaries
    )
    return led_before and leader in await list_alive_builds(client)
