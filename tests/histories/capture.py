"""Captures the histories that the replay tests run today's code against.

    python -m tests.histories.capture [runs] [fleet] [refused]

Capture more when the workflows have changed on purpose, so that their new behaviour is tested too. After a release, keep the
older histories: they stand for runs that waited while the change was made. Before a release, delete them first.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.accounts.service.bootstrap import ensure_local_owner
from app.database.engine import connect
from app.database.migrate import upgrade
from app.database.tenancy import Tenant, TenantDatabase, act_for
from app.domain.budget import Budget
from app.domain.contract import PARKED_WORKFLOW, RESEARCH_QUEUE, workflow_id
from app.domain.errors import ModelRefused
from app.domain.fleets import FLEET_WORKFLOW, FleetInput, FleetQuestion, FleetWish, fleet_workflow_id
from app.domain.plan import Subtask
from app.domain.query import ResearchQuery
from app.domain.run import RunStatus
from app.fleets.service import Fleets
from app.runs.service.temporal_gateway import connect as connect_temporal
from infra.local.postgres import LocalPostgres
from infra.local.temporal import LocalTemporal
from tests.support.accounts import HOME_KEY, act_as_home
from tests.support.stack import running_postgres, running_temporal
from tests.workflows.durable.toys import Gate, answer_at_once
from tests.workflows.durable.whole_product import WholeProduct

HERE = Path(__file__).parent
NAMES = {"ResearchWorkflow": "research", "ParkedRunWorkflow": "parked", "FleetWorkflow": "fleet"}


async def capture(postgres: LocalPostgres, temporal: LocalTemporal, wanted: Sequence[str]) -> None:
    """Capture a run that is steered, paused and resumed, one whose plan is approved, a fleet that is cancelled, a refused run."""
    url = await postgres.ensure_database("histories")
    await upgrade(url)
    await ensure_local_owner(url, HOME_KEY)
    await act_as_home(postgres)
    database = await connect(url)
    house = WholeProduct(database, await connect_temporal(temporal.address), temporal.address)
    if "runs" in wanted:
        await save_histories(house, workflow_id(await make_steered_run(house)))
        await save_histories(house, workflow_id(await make_approved_run(house)))
    if "fleet" in wanted:
        await save_histories(house, fleet_workflow_id(await make_cancelled_fleet(house)))
    if "refused" in wanted:
        await save_histories(house, workflow_id(await make_refused_run(house)))
    await database.close()


async def make_steered_run(house: WholeProduct) -> UUID:
    """Do a run with a subtask added, one dropped, a pause during the report, and a resumption."""
    first, second = Gate("s2 turn 1"), Gate("section 2")

    async def gates(message: str) -> None:
        await first(message)
        await second(message)

    house.model.hook = gates
    async with house.start_worker(build="captured"):
        run_id = await house.ask("How did presidents justify tariffs?")
        await first.reached.wait()
        await house.steering.add_subtask(run_id, Subtask(id="extra", title="One more", question="And then?", depends_on=("s1",)))
        await house.steering.drop_subtask(run_id, "s3")
        first.open()
        await second.reached.wait()
        await house.steering.pause(run_id)
        second.open()
        await house.wait_for(run_id, RunStatus.PAUSED)
        await wait_until_parked(house, run_id)
        await house.steering.resume(run_id, finish=False)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    return run_id


async def make_approved_run(house: WholeProduct) -> UUID:
    """Do a run whose plan is changed and approved."""
    house.model.hook = answer_at_once
    async with house.start_worker(build="captured"):
        run_id = await house.ask("How did presidents justify tariffs?", approve_plan=True)
        await house.wait_for(run_id, RunStatus.AWAITING_APPROVAL)
        await wait_until_parked(house, run_id)
        await house.steering.add_subtask(run_id, Subtask(id="extra", title="One more", question="And then?"))
        await house.steering.approve(run_id)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    return run_id


async def make_refused_run(house: WholeProduct) -> UUID:
    """Do a run that a refusing model pauses, and that makes its plan and its searches anew when it is resumed."""

    async def refuse(message: str) -> None:
        raise ModelRefused("cannot use this request")

    house.model.hook = refuse
    async with house.start_worker(build="captured"):
        run_id = await house.ask("How did presidents justify tariffs?")
        await house.wait_for(run_id, RunStatus.PAUSED)
        await wait_until_parked(house, run_id)
        house.model.hook = answer_at_once
        await house.steering.resume(run_id, finish=False)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    return run_id


async def wait_until_parked(house: WholeProduct, run_id: UUID) -> None:
    handle = house.client.get_workflow_handle(workflow_id(run_id))
    while (await handle.describe()).workflow_type != PARKED_WORKFLOW:
        await asyncio.sleep(0.1)


async def make_cancelled_fleet(house: WholeProduct) -> UUID:
    """Do a fleet of three: one finishes at its budget, one is cancelled, and one did not begin; all in two histories."""
    fleet, fleets, gate = uuid4(), Fleets(TenantDatabase(house.database), house.gateway), Gate("outline of s1:sufficient")
    house.model.hook = gate
    start = FleetInput(fleet_id=fleet, organisation_id=LOCAL_ORGANISATION, history=25)
    budgets = (Budget(max_tokens=900), Budget(), Budget())
    asked = [FleetQuestion(name=str(n), query=ResearchQuery(question=f"{n}?", budget=b)) for n, b in enumerate(budgets)]
    with act_for(Tenant(LOCAL_ORGANISATION)):
        async with house.start_worker(build="captured"):
            await fleets.make(fleet, 1)
            await house.client.start_workflow(FLEET_WORKFLOW, start, id=fleet_workflow_id(fleet), task_queue=RESEARCH_QUEUE)
            await fleets.add(fleet, asked)
            await gate.reached.wait()
            await fleets.set_wish(fleet, FleetWish.CANCEL)
            while (await fleets.get(fleet)).ended_at is None:
                await asyncio.sleep(0.1)
            await house.client.get_workflow_handle(fleet_workflow_id(fleet)).result()
    return fleet


async def save_histories(house: WholeProduct, name: str) -> None:
    """Write each workflow's history as JSON, oldest first, numbered after those that exist."""
    first = 1 + max((int(path.stem.partition("_")[0]) for path in HERE.glob("*.json")), default=0)
    found = [w async for w in house.client.list_workflows(f"WorkflowId = '{name}'")]
    for number, workflow in enumerate(sorted(found, key=lambda w: w.start_time), first):
        handle = house.client.get_workflow_handle(workflow.id, run_id=workflow.run_id)
        history = await handle.fetch_history()
        text = json.dumps(remove_traces(json.loads(history.to_json())), indent=1, ensure_ascii=False)
        (HERE / f"{number}_{NAMES[workflow.workflow_type]}.json").write_text(text + "\n", encoding="utf-8")


def remove_traces(node: Any) -> Any:
    """Remove the stack traces of failures: a replay does not read them, and they name folders of one machine."""
    if isinstance(node, dict):
        return {name: "" if name == "stackTrace" else remove_traces(child) for name, child in node.items()}
    return [remove_traces(child) for child in node] if isinstance(node, list) else node


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, running_postgres(Path(folder)) as pg, running_temporal(Path(folder)) as server:
        asyncio.run(capture(pg, server, sys.argv[1:] or ("runs", "fleet", "refused")))
