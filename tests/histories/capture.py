"""Captures the histories that the replay tests hold new code against.

    python -m tests.histories.capture

Capture anew only when the workflows changed on purpose: runs that wait on an older version are not affected by such a change
(a running one stays on the version it began with), but a captured one then no longer speaks for them.
"""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any
from uuid import UUID

from app.domain.contract import PARKED_WORKFLOW, workflow_id
from app.domain.plan import Subtask
from app.domain.run import RunStatus
from app.services.run_gateway import connect as connect_temporal
from app.storage.engine import connect
from app.storage.migrate import upgrade
from infra.local.postgres import LocalPostgres
from infra.local.temporal import LocalTemporal
from tests.support.stack import running_postgres, running_temporal
from tests.workflows.durable.house import House
from tests.workflows.durable.toys import Gate, at_once

HERE = Path(__file__).parent
NAMES = {"ResearchWorkflow": "research", "ParkedRunWorkflow": "parked"}


async def capture(postgres: LocalPostgres, temporal: LocalTemporal) -> None:
    """One run that is steered, paused, resumed and completed: a history for each of its three workflows."""
    url = await postgres.ensure_database("histories")
    await upgrade(url)
    database = await connect(url)
    house = House(database, await connect_temporal(temporal.address), temporal.address)
    await save(house, await steered_run(house), first=1)
    await save(house, await approved_run(house), first=4)
    await database.close()


async def steered_run(house: House) -> UUID:
    """A run with a subtask added, one dropped, a pause during the report, and a resumption."""
    first, second = Gate("s2 turn 1"), Gate("section 2")

    async def gates(said: str) -> None:
        await first(said)
        await second(said)

    house.model.hook = gates
    async with house.worker(build="captured"):
        run_id = await house.ask("How did presidents justify tariffs?")
        await first.reached.wait()
        await house.steering.add_subtask(run_id, Subtask(id="extra", title="One more", question="And then?", depends_on=("s1",)))
        await house.steering.drop_subtask(run_id, "s3")
        first.open()
        await second.reached.wait()
        await house.steering.pause(run_id)
        second.open()
        await house.until(run_id, RunStatus.PAUSED)
        handle = house.client.get_workflow_handle(workflow_id(run_id))
        while (await handle.describe()).workflow_type != PARKED_WORKFLOW:
            await asyncio.sleep(0.1)
        await house.steering.resume(run_id, finish=False)
        await house.until(run_id, RunStatus.COMPLETED)
    return run_id


async def approved_run(house: House) -> UUID:
    """A run whose plan is changed and approved."""
    house.model.hook = at_once
    async with house.worker(build="captured"):
        run_id = await house.ask("How did presidents justify tariffs?", approve_plan=True)
        await house.until(run_id, RunStatus.AWAITING_APPROVAL)
        handle = house.client.get_workflow_handle(workflow_id(run_id))
        while (await handle.describe()).workflow_type != PARKED_WORKFLOW:
            await asyncio.sleep(0.1)
        await house.steering.add_subtask(run_id, Subtask(id="extra", title="One more", question="And then?"))
        await house.steering.approve(run_id)
        await house.until(run_id, RunStatus.COMPLETED)
    return run_id


async def save(house: House, run_id: UUID, first: int) -> None:
    """Write each workflow's history as JSON, oldest first, under numbers from `first` on."""
    found = [w async for w in house.client.list_workflows(f"WorkflowId = 'run-{run_id}'")]
    for number, workflow in enumerate(sorted(found, key=lambda w: w.start_time), first):
        handle = house.client.get_workflow_handle(workflow.id, run_id=workflow.run_id)
        history = await handle.fetch_history()
        text = json.dumps(without_traces(json.loads(history.to_json())), indent=1, ensure_ascii=False)
        (HERE / f"{number}_{NAMES[workflow.workflow_type]}.json").write_text(text + "\n", encoding="utf-8")


def without_traces(node: Any) -> Any:
    """The history without the stack traces of its failures: a replay does not read them, and they name folders of one machine."""
    if isinstance(node, dict):
        return {name: "" if name == "stackTrace" else without_traces(child) for name, child in node.items()}
    return [without_traces(child) for child in node] if isinstance(node, list) else node


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, running_postgres(Path(folder)) as pg, running_temporal(Path(folder)) as server:
        asyncio.run(capture(pg, server))
