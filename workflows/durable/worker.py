"""The worker: `python -m workflows.durable.worker`. It prints "worker ready" when it takes work; SIGTERM or SIGINT ends it.

With `--health-socket PATH` it answers HTTP requests at that Unix socket while it lives.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import uvloop
from temporalio.client import Client
from temporalio.common import WorkerDeploymentVersion
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.worker import PollerBehaviorSimpleMaximum, UnsandboxedWorkflowRunner, Worker, WorkerDeploymentConfig

from app.domain.contract import DEPLOYMENT_NAME, RESEARCH_QUEUE
from app.domain.errors import SetupError
from app.garbage import collect_garbage_rarely, give_memory_back
from app.health_socket import answer_health_checks
from app.open_files import allow_open_files
from app.runs.service.temporal_gateway import connect
from app.settings import Settings, read_settings
from workflows.durable import policies
from workflows.durable.activities import StageActivities
from workflows.durable.deployment import become_current, compute_build_id
from workflows.durable.drafting import DraftActivities, DraftWorkflow
from workflows.durable.fleet_activities import FleetActivities
from workflows.durable.fleet_workflow import FleetWorkflow
from workflows.durable.living_activities import LivingActivities
from workflows.durable.living_workflow import LivingReportWorkflow
from workflows.durable.reconcile import Reconciler
from workflows.durable.report_task_workflow import ReportTaskWorkflow
from workflows.durable.report_tasks import ReportTaskActivities
from workflows.durable.research_workflow import ParkedRunWorkflow, ResearchWorkflow
from workflows.durable.retraining.activities import RetrainingActivities, open_workplace
from workflows.durable.retraining.unloading import unload_meanwhile
from workflows.durable.retraining.workflow import RetrainingWorkflow
from workflows.durable.workshop import Workshop
from workflows.durable.workshop_setup import open_workshop

STAGES_AT_ONCE = 1_000
WORKFLOW_TASKS_AT_ONCE = 50
WORKFLOWS_IN_MEMORY = 500
POLLERS = PollerBehaviorSimpleMaximum(maximum=5)
# The SDK's threads may still work when the interpreter ends, and then crash it (sdk-python issue 300).
EXIT_PAUSE = timedelta(milliseconds=300)


def main() -> int:
    """Run with the settings of the environment. Return 2, with a message, when something must be set up first."""
    parser = argparse.ArgumentParser(prog="worker", description="Take work.")
    parser.add_argument("--health-socket", type=Path, help="a Unix socket at which to answer health checks")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    allow_open_files()
    try:
        uvloop.run(serve(read_settings(os.environ), health_socket=options.health_socket))
    except SetupError as error:
        print(f"the worker cannot start: {error}", file=sys.stderr)
        return 2
    finally:
        time.sleep(EXIT_PAUSE.total_seconds())
    return 0


async def serve(settings: Settings, build: str | None = None, health_socket: Path | None = None) -> None:
    """Take work until told to stop; turns under way then have some time to end and be stored. `build` overrides the version.

    Raises:
        SetupError: an address is missing, or cannot be used as it is.
    """
    if settings.temporal_address is None:
        raise SetupError("set RUBRICA_TEMPORAL_ADDRESS, or use `rubrica up`, which starts a server")
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    runtime = Runtime(telemetry=TelemetryConfig(), worker_heartbeat_interval=policies.WORKER_REPORTS_EVERY)
    client = await connect(settings.temporal_address, runtime)
    async with open_workshop(settings) as shop, run_worker(client, shop, build or compute_build_id()):
        collect_garbage_rarely()
        async with answer_health_checks(health_socket), give_memory_back(), unload_meanwhile(shop.database, settings):
            print("worker ready", flush=True)
            await stop.wait()


@asynccontextmanager
async def run_worker(client: Client, shop: Workshop, build: str) -> AsyncIterator[None]:
    """Take work as version `build` while the context lasts. New runs go to this version from the beginning."""
    async with build_worker(client, shop, build):
        await become_current(client, build)
        reconciling = asyncio.create_task(Reconciler(client, shop.database, build).run_forever())
        try:
            yield
        finally:
            reconciling.cancel()


def build_worker(client: Client, shop: Workshop, build: str | None, in_memory: int = WORKFLOWS_IN_MEMORY) -> Worker:
    """Build a worker of version `build`; None for servers without versions, such as the time-skipping test server.

    At most `in_memory` workflows stay in memory between their tasks; the others are replayed.
    """
    version = WorkerDeploymentVersion(deployment_name=DEPLOYMENT_NAME, build_id=build or "")
    return Worker(
        client,
        task_queue=RESEARCH_QUEUE,
        workflows=[
            *(ResearchWorkflow, ParkedRunWorkflow, ReportTaskWorkflow, DraftWorkflow, LivingReportWorkflow, FleetWorkflow),
            RetrainingWorkflow,
        ],
        activities=[
            *StageActivities(shop).list_activities,
            *ReportTaskActivities(shop).list_activities,
            *LivingActivities(shop).list_activities,
            DraftActivities(shop).draft,
            FleetActivities(shop).advance,
            *RetrainingActivities(open_workplace(shop)).list_activities,
        ],
        # The sandbox costs more than the workflows themselves; the replay tests run them inside it.
        workflow_runner=UnsandboxedWorkflowRunner(),
        deployment_config=WorkerDeploymentConfig(version=version, use_worker_versioning=True) if build else None,
        max_concurrent_activities=STAGES_AT_ONCE,
        max_concurrent_workflow_tasks=WORKFLOW_TASKS_AT_ONCE,
        max_cached_workflows=in_memory,
        activity_task_poller_behavior=POLLERS,
        workflow_task_poller_behavior=POLLERS,
        sticky_queue_schedule_to_start_timeout=policies.STICKY_LIMIT,
        max_heartbeat_throttle_interval=policies.HEARTBEAT_EVERY,
        graceful_shutdown_timeout=policies.SHUTDOWN_GRACE,
    )


if __name__ == "__main__":
    sys.exit(main())
