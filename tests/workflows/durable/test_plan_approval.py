"""A run whose plan waits for approval: nothing is searched before, nothing is lost meanwhile, everything may be changed."""

import asyncio

import pytest

from app.domain.contract import PARKED_WORKFLOW, workflow_id
from app.domain.errors import Conflict
from app.domain.plan import ResearchPlan, Subtask
from app.domain.run import EventType, RunStatus
from tests.workflows.durable.toys import Gate
from tests.workflows.durable.whole_product import WholeProduct

AWAITING = RunStatus.AWAITING_APPROVAL
NEW = Subtask(id="extra", title="One more", question="And what else?")


async def parked(house: WholeProduct, run_id: object) -> None:
    handle = house.client.get_workflow_handle(workflow_id(run_id))  # type: ignore[arg-type]
    while (await handle.describe()).workflow_type != PARKED_WORKFLOW:
        await asyncio.sleep(0.05)


async def at_rest(house: WholeProduct, run_id: object) -> None:
    """Wait until the run's waiting workflow has done all that it does by itself."""
    await parked(house, run_id)
    while True:
        told = (await house.client.get_workflow_handle(workflow_id(run_id)).describe()).raw_description  # type: ignore[arg-type]
        if not told.pending_activities and not told.HasField("pending_workflow_task"):
            return
        await asyncio.sleep(0.05)


async def test_a_plan_is_edited_and_approved_over_a_change_of_version(house: WholeProduct) -> None:
    async with house.start_worker(build="before"):
        run_id = await house.ask(approve_plan=True)
        waiting = await house.wait_for(run_id, AWAITING)
        await parked(house, run_id)
        assert waiting.plan is not None
        with pytest.raises(Conflict, match="approve it"):
            await house.steering.resume(run_id, finish=False)
        with pytest.raises(Conflict, match="approve it"):
            await house.steering.resume(run_id, finish=True)
        assert (await house.steering.pause(run_id)).status is AWAITING
        s1, _, s3 = waiting.plan.subtasks
        await house.steering.revise_plan(run_id, ResearchPlan(title="Another", subtasks=(s3, s1, NEW)))
    spent = house.model.asked.copy()
    assert spent == ["plan why tariffs? "], "waiting costs nothing"
    async with house.start_worker(build="after"):
        await house.steering.approve(run_id)
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert run.plan is not None
    assert [s.id for s in run.plan.subtasks] == ["s3", "s1", "extra"]
    assert [said for said in house.model.asked if said.startswith("plan")] == spent, "the plan is not made twice"
    assert not any(said.startswith("s2 ") for said in house.model.asked)
    assert any(said.startswith("outline of s3:sufficient, s1:sufficient, extra:sufficient") for said in house.model.asked)
    assert await house.list_statuses(run_id) == ["running", "awaiting_approval", "running", "completed"]
    changed = [event["payload"] for event in await house.list_events(run_id, EventType.STATUS_CHANGED)]
    assert changed[1]["options"] == ["approve", "revise_plan", "cancel"]
    with pytest.raises(Conflict):
        await house.steering.approve(run_id)


async def test_a_pause_that_was_taken_back_approves_nothing_and_a_second_approval_changes_nothing(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("plan")
    async with house.start_worker():
        run_id = await house.ask(approve_plan=True)
        await gate.reached.wait()
        with pytest.raises(Conflict, match="no plan of it waits"):
            await house.steering.approve(run_id)
        await house.gateway.pause(run_id)
        await house.gateway.resume(run_id, finish=False)
        gate.open()
        await house.wait_for(run_id, AWAITING)
        house.model.hook = gate = Gate("s1 turn 0")
        await asyncio.gather(house.steering.approve(run_id), house.steering.approve(run_id))
        await gate.reached.wait()
        assert (await house.steering.approve(run_id)).status is RunStatus.RUNNING
        gate.open()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert sum(said.startswith("plan") for said in house.model.asked) == 1


async def test_a_lost_workflow_waits_again_and_an_approval_it_never_heard_counts(house: WholeProduct) -> None:
    async with house.start_worker():
        run_id = await house.ask(approve_plan=True)
        await house.wait_for(run_id, AWAITING)
        await parked(house, run_id)
        handle = house.client.get_workflow_handle(workflow_id(run_id))
        await handle.terminate("lost")
        await house.make_reconciler().reconcile_once()
        await at_rest(house, run_id)
        assert (await house.get_run(run_id)).status is AWAITING
        await handle.terminate("lost again")
        await house.steering.approve(run_id)
        await house.wait_for(run_id, RunStatus.COMPLETED)


async def test_a_run_that_waits_for_approval_is_cancelled(house: WholeProduct) -> None:
    async with house.start_worker():
        run_id = await house.ask(approve_plan=True)
        await house.wait_for(run_id, AWAITING)
        await house.steering.cancel(run_id)
        while (await house.get_run(run_id)).status is not RunStatus.CANCELLED:
            await asyncio.sleep(0.05)
    assert len(house.model.asked) == 1
