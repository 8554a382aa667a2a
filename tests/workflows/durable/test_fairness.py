"""Organisations take turns on a worker, however much one of them has waiting, and people go before what is in the background."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from temporalio import activity, workflow
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from app.domain.contract import ResearchInput
from app.domain.query import ResearchQuery
from app.runs.service.temporal_gateway import connect, priority_of
from tests.support.patience import PATIENCE_S

GREEDY, MODEST = UUID(int=1), UUID(int=2)
BACKLOG = 40
order: list[str] = []


@activity.defn
async def stage(who: str) -> None:
    order.append(who)
    await asyncio.sleep(0.02)


@workflow.defn
class OneStage:
    @workflow.run
    async def run(self, who: str) -> None:
        await workflow.execute_activity(stage, who, start_to_close_timeout=timedelta(seconds=PATIENCE_S))


async def enqueue(client: Client, queue: str, organisation: UUID, who: str, count: int, background: bool = False) -> None:
    """Start so many workflows, and wait until the one stage of each is in the queue."""
    handles = [await started(client, queue, organisation, who, background) for _ in range(count)]
    for handle in handles:
        while not (await handle.describe()).raw_description.pending_activities:
            await asyncio.sleep(0.02)


async def started(client: Client, queue: str, organisation: UUID, who: str, background: bool) -> WorkflowHandle[OneStage, None]:
    query = ResearchQuery(question="Whose turn?")
    request = ResearchInput(run_id=uuid4(), query=query, organisation_id=organisation, background=background)
    return await client.start_workflow(OneStage.run, who, id=str(request.run_id), task_queue=queue, priority=priority_of(request))


@pytest.mark.parametrize(("organisation", "background"), [(GREEDY, False), (MODEST, True)], ids=["another", "a fleet"])
async def test_a_long_queue_of_one_does_not_hold_up_another(temporal_address: str, organisation: UUID, background: bool) -> None:
    client, queue = await connect(temporal_address), f"fair-{uuid4()}"
    order.clear()
    workflows = Worker(client, task_queue=queue, workflows=[OneStage], workflow_runner=UnsandboxedWorkflowRunner())
    async with workflows:
        await enqueue(client, queue, organisation, "greedy", BACKLOG, background)
        await enqueue(client, queue, MODEST, "modest", 4)
        async with Worker(client, task_queue=queue, activities=[stage], max_concurrent_activities=1):
            while order.count("modest") < 4:
                await asyncio.sleep(0.05)
    before_the_last = [place for place, who in enumerate(order) if who == "modest"][3]
    assert before_the_last < BACKLOG / 2, order
