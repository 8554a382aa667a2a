"""Over Temporal's time-skipping server: a run that waits for weeks goes on where it stopped."""

import asyncio
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import EventType
from temporalio.api.testservice.v1 import SleepRequest
from temporalio.client import Client

from app.domain.contract import PARKED_WORKFLOW, workflow_id
from app.domain.run import RunStatus
from app.runs.service.temporal_gateway import connect
from tests.workflows.durable.toys import Gate
from tests.workflows.durable.whole_product import WholeProduct
from workflows.durable.worker import build_worker

CALLS = 17


async def sleep(client: Client, time: timedelta) -> None:
    """Let the server's time pass."""
    duration = Duration()
    duration.FromTimedelta(time)
    await client.test_service.unlock_time_skipping_with_sleep(SleepRequest(duration=duration))


async def at_rest(client: Client, run_id: UUID) -> None:
    """Until the run's waiting workflow has nothing left to do: while anything is under way the server's time stands still."""
    handle, done = client.get_workflow_handle(workflow_id(run_id)), EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    while True:
        events = [event async for event in handle.fetch_history_events()]
        begun = events[0].workflow_execution_started_event_attributes.workflow_type.name
        if begun == PARKED_WORKFLOW and [e.event_type for e in events].count(done) == 2:
            return
        await asyncio.sleep(0.05)


@pytest.fixture
async def skipping(database: asyncpg.Pool, time_skipping: str) -> WholeProduct:
    return WholeProduct(database, await connect(time_skipping), time_skipping)


async def test_a_run_that_was_paused_for_weeks_goes_on(skipping: WholeProduct) -> None:
    house, gate = skipping, Gate("s2 turn 1")
    house.model.hook = gate
    async with build_worker(house.client, house.make_workshop(), None, in_memory=0):
        run_id = await house.ask()
        await gate.reached.wait()
        await house.steering.pause(run_id)
        gate.open()
        await house.wait_for(run_id, RunStatus.PAUSED)
        await at_rest(house.client, run_id)
    await sleep(house.client, timedelta(days=30))
    async with build_worker(house.client, house.make_workshop(), None, in_memory=0):
        await house.steering.resume(run_id, finish=False)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert len(house.model.asked) == len(set(house.model.asked)) == CALLS
