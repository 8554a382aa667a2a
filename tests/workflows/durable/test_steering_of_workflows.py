"""What a person changes while a run works or waits: accepted changes take effect, refused ones say why and harm nothing."""

import asyncio

import pytest
from temporalio.client import WorkflowUpdateFailedError

from app.domain.contract import Command, SubtaskAddition, SubtaskRemoval, workflow_id
from app.domain.errors import Conflict, NotFound
from app.domain.plan import ResearchPlan, Subtask
from app.domain.run import EventType, RunStatus
from tests.workflows.durable.toys import Gate, make_toy_agents
from tests.workflows.durable.whole_product import WholeProduct

NEW = Subtask(id="extra", title="One more", question="And what else?")


async def test_a_subtask_is_added_while_the_others_run(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        plan = await house.steering.add_subtask(run_id, NEW)
        gate.open()
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert plan.revision == 2
    assert run.plan == plan
    assert "extra turn 2 " in house.model.asked
    assert any("extra:sufficient" in said for said in house.model.asked if said.startswith("outline"))
    assert len(await house.list_events(run_id, EventType.PLAN_REVISED)) == 1


async def test_a_running_search_that_is_dropped_hands_over_what_it_has(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        await house.steering.drop_subtask(run_id, "s2")
        gate.open()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert "s2 turn 2 " not in house.model.asked
    assert any("s2:dropped" in said for said in house.model.asked)
    finished = {
        event["payload"]["stage"]: event["payload"] for event in await house.list_events(run_id, EventType.STAGE_FINISHED)
    }
    assert finished["search/s2"]["stop"] == "dropped"
    assert finished["search/s2"]["quotes"] == 1


async def test_a_running_search_that_a_revised_plan_leaves_out_is_paid_for_no_further(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("s2 turn 1", "s3 turn 1")
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        while len([said for said in house.model.asked if said.startswith(("s2 turn 1", "s3 turn 1"))]) < 2:
            await asyncio.sleep(0.01)
        plan = await house.steering.get_plan(run_id)
        for left_out in ({"s2", "s3"}, {"s2"}):  # on second thoughts the third stays
            subtasks = tuple(s for s in plan.subtasks if s.id not in left_out)
            await house.steering.revise_plan(run_id, ResearchPlan(title="Less", subtasks=subtasks))
        gate.open()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert "s2 turn 2 " not in house.model.asked
    assert [said for said in house.model.asked if said.startswith("outline")] == ["outline of s1:sufficient, s3:sufficient "]


async def test_the_plan_of_a_paused_run_is_revised_and_finished_searches_are_kept(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("s3 turn 1")
    async with house.start_worker(make_toy_agents(chain=True)):
        run_id = await house.ask()
        await gate.reached.wait()
        await house.steering.pause(run_id)
        gate.open()
        paused = await house.wait_for(run_id, RunStatus.PAUSED)
        assert paused.plan is not None
        kept = tuple(s for s in paused.plan.subtasks if s.id != "s3")
        await house.steering.revise_plan(run_id, ResearchPlan(title="Another", subtasks=(*kept, NEW)))
        await house.steering.resume(run_id, finish=False)
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert run.plan is not None
    assert [s.id for s in run.plan.subtasks] == ["s1", "s2", "extra"]
    assert sum(said.startswith("s1 ") for said in house.model.asked) == 3
    assert [said for said in house.model.asked if said.startswith("outline")] == [
        "outline of s1:sufficient, s2:sufficient, extra:sufficient "
    ]


async def test_a_change_that_comes_too_late_is_refused_and_the_report_is_finished(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("section 2")
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        with pytest.raises(Conflict, match="report is already being written"):
            await house.steering.add_subtask(run_id, NEW)
        gate.open()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert await house.list_events(run_id, EventType.PLAN_REVISED) == []


async def test_the_workflow_itself_refuses_what_cannot_be(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        with pytest.raises(NotFound, match="no subtask 'nowhere'"):
            await house.gateway.drop_subtask(run_id, SubtaskRemoval(subtask_id="nowhere"))
        taken = NEW.model_copy(update={"id": "s1"})
        with pytest.raises(Conflict, match="choose another id"):
            await house.gateway.add_subtask(run_id, SubtaskAddition(subtask=taken))
        # What another client sends need not even be a plan.
        handle = house.client.get_workflow_handle(workflow_id(run_id))
        with pytest.raises(WorkflowUpdateFailedError):
            await handle.execute_update(Command.REVISE_PLAN, {"nonsense": True})
        gate.open()
        await house.wait_for(run_id, RunStatus.COMPLETED)


async def test_commands_to_a_run_without_a_workflow_say_so(house: WholeProduct) -> None:
    run_id = await house.ask()
    await house.client.get_workflow_handle(workflow_id(run_id)).terminate("lost")
    with pytest.raises(NotFound):
        await house.gateway.pause(run_id)
    with pytest.raises(NotFound):
        await house.gateway.drop_subtask(run_id, SubtaskRemoval(subtask_id="s1"))


async def test_a_note_reaches_the_stages_that_begin_after_it(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("s1 turn 0", "s2 turn 0", "s3 turn 0")
    async with house.start_worker():
        run_id = await house.ask()
        await house.wait_until(lambda: gate.stopped == 3)
        await house.steering.add_note(run_id, "mind the farmers")
        gate.open()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    with_note = [said for said in house.model.asked if "mind the farmers" in said]
    assert len(with_note) == 1
    assert with_note[0].startswith("outline")
