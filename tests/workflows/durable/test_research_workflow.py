"""Runs over real Temporal and PostgreSQL, seen as a reader sees them: statuses, events, the report, and what was paid for."""

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest
from temporalio.api.enums.v1 import EventType as HistoryEventType

from app.domain.budget import Budget
from app.domain.contract import Halt, ResearchInput
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.run import EventType, RunStatus
from app.runs.storage import steering
from app.runs.storage.run_log import RunLog
from tests.workflows.durable.toys import Gate, make_toy_agents
from tests.workflows.durable.whole_product import WholeProduct
from workflows.agents.kit import Kit

# Plan 1, searches 3 x 3, report 1 + 3 x 2.
CALLS = 17


async def test_a_run_goes_from_question_to_report(house: WholeProduct) -> None:
    async with house.start_worker():
        run_id = await house.ask()
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert run.usage.model_calls == len(house.model.asked) == CALLS
    assert run.usage.tool_calls == 9
    assert run.plan is not None
    assert await house.list_statuses(run_id) == ["running", "completed"]
    told = await house.list_events(run_id)
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
    stages = [event["payload"]["stage"] for event in told if event["type"] == EventType.STAGE_FINISHED]
    assert stages[0] == "plan"
    assert sorted(stages[1:4]) == ["search/s1", "search/s2", "search/s3"]
    assert stages[4:] == ["report"]
    assert told[-1]["type"] == EventType.STATUS_CHANGED
    assert told[-2]["type"] == EventType.REPORT_READY
    assert sum(told[-2]["payload"]["claims"].values()) > 0
    assert "[1]" in await house.read_report_markdown(run_id)
    assert await house.list_activities(run_id) == ["plan", "searches", "report"]
    kinds = {event.event_type for event in await house.read_history(run_id)}
    assert HistoryEventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED in kinds
    assert HistoryEventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES not in kinds, "a row of Temporal's list, and a flush"


async def test_a_subtask_waits_for_what_it_depends_on(house: WholeProduct) -> None:
    async with house.start_worker(make_toy_agents(subtasks=3, turns=1, chain=True)):
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert [said.split()[0] for said in house.model.asked[1:4]] == ["s1", "s2", "s3"]
    assert await house.list_activities(run_id) == ["plan", "search", "search", "search", "report"]


async def test_a_search_waits_only_for_what_it_depends_on(house: WholeProduct) -> None:
    needs = {"s1": (), "s2": ("s1",), "s3": (), "s4": ()}
    parts = tuple(Subtask(id=name, title=name, question=f"{name}?", depends_on=needed) for name, needed in needs.items())

    async def plan(query: ResearchQuery, kit: Kit) -> ResearchPlan:
        return ResearchPlan(subtasks=parts)

    house.model.hook = gate = Gate("s3 turn 1")
    async with house.start_worker(replace(make_toy_agents(), plan=plan)):
        run_id = await house.ask()
        await gate.reached.wait()
        await house.wait_until(lambda: "s2 turn 2 " in house.model.answered)
        gate.open()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert await house.list_activities(run_id) == ["plan", "search", "searches", "search", "report"]


async def test_a_pause_keeps_the_calls_under_way_and_a_resumed_run_pays_for_nothing_twice(house: WholeProduct) -> None:
    gate = Gate("s2 turn 1")
    house.model.hook = gate
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        await house.steering.pause(run_id)
        gate.open()
        paused = await house.wait_for(run_id, RunStatus.PAUSED)
        before = list(house.model.asked)
        assert paused.usage.model_calls == len(before) < CALLS
        await house.steering.resume(run_id, finish=False)
        done = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert len(house.model.asked) == len(set(house.model.asked)) == done.usage.model_calls == CALLS
    assert await house.list_statuses(run_id) == ["running", "paused", "running", "completed"]
    options = (await house.list_events(run_id, EventType.STATUS_CHANGED))[1]["payload"]["options"]
    assert options == ["resume", "finish", "cancel"]


async def test_a_resume_that_comes_before_the_pause_has_taken_effect_is_not_lost(house: WholeProduct) -> None:
    gate = Gate("s2 turn 1")
    house.model.hook = gate
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        await house.steering.pause(run_id)
        await house.wait_until(lambda: len(house.model.answered) == len(house.model.asked) - 1)
        await house.steering.resume(run_id, finish=False)
        gate.open()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert len(house.model.asked) == CALLS


async def test_a_paused_run_finishes_with_what_there_is_and_spends_nothing_more(house: WholeProduct) -> None:
    gate = Gate("s2 turn 1")
    house.model.hook = gate
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        await house.steering.pause(run_id)
        gate.open()
        paused = await house.wait_for(run_id, RunStatus.PAUSED)
        await house.steering.resume(run_id, finish=True)
        done = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert done.usage == paused.usage
    assert "made of quotations" in await house.read_report_markdown(run_id)
    assert "budget" in await house.read_report_markdown(run_id)


async def test_a_running_run_can_be_asked_to_finish(house: WholeProduct) -> None:
    gate = Gate("s2 turn 1")
    house.model.hook = gate
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        await house.steering.resume(run_id, finish=True)
        while await steering.get_control(house.database, run_id) is not Halt.PAUSE:
            await asyncio.sleep(0.02)
        gate.open()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert len(house.model.asked) < CALLS
    assert "made of quotations" in await house.read_report_markdown(run_id)


async def test_cancelling_aborts_the_calls_under_way(house: WholeProduct) -> None:
    gate = Gate("s")
    house.model.hook = gate
    async with house.start_worker():
        run_id = await house.ask()
        await house.wait_until(lambda: gate.stopped == 3)
        await house.steering.cancel(run_id)
        await house.wait_for(run_id, RunStatus.CANCELLED)
        # The stages hear of it with their next heartbeat.
        await house.wait_until(lambda: gate.gave_up == 3)
        gate.open()
    assert house.model.answered == [house.model.asked[0]]
    assert await house.list_statuses(run_id) == ["running", "cancelled"]


async def test_a_paused_run_can_be_cancelled(house: WholeProduct) -> None:
    gate = Gate("plan")
    house.model.hook = gate
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        await house.steering.pause(run_id)
        gate.open()
        await house.wait_for(run_id, RunStatus.PAUSED)
        await house.steering.cancel(run_id)
        await house.wait_for(run_id, RunStatus.CANCELLED)


async def test_a_command_is_heard_while_a_waiting_run_reads_its_record(
    house: WholeProduct, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, read_on, load = asyncio.Event(), asyncio.Event(), RunLog.load

    async def slow(log: RunLog, run_id: UUID) -> ResearchInput:
        if (await house.get_run(run_id)).status is RunStatus.BUDGET_REACHED:
            reading.set()
            await read_on.wait()
        return await load(log, run_id)

    monkeypatch.setattr(RunLog, "load", slow)
    async with house.start_worker():
        run_id = await house.ask(budget=Budget(max_tokens=1_000))
        await reading.wait()
        await house.steering.set_budget(run_id, Budget(max_tokens=10**6))
        await house.steering.resume(run_id, finish=False)
        read_on.set()
        assert (await house.wait_for(run_id, RunStatus.COMPLETED)).usage.tokens > 1_000


async def test_at_its_cap_a_run_waits_and_goes_on_with_more(house: WholeProduct) -> None:
    async with house.start_worker():
        run_id = await house.ask(budget=Budget(max_tokens=1_000))
        reached = await house.wait_for(run_id, RunStatus.BUDGET_REACHED)
        assert 600 < reached.usage.tokens <= 1_000
        options = (await house.list_events(run_id, EventType.STATUS_CHANGED))[-1]["payload"]["options"]
        assert options == ["finish", "raise_budget", "cancel"]
        await house.steering.set_budget(run_id, Budget(max_tokens=10**6))
        await house.steering.resume(run_id, finish=False)
        done = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert done.usage.model_calls == len(house.model.asked) == CALLS


async def test_at_its_cap_a_run_can_finish_with_what_there_is(house: WholeProduct) -> None:
    async with house.start_worker():
        run_id = await house.ask(budget=Budget(max_tokens=1_000))
        reached = await house.wait_for(run_id, RunStatus.BUDGET_REACHED)
        await house.steering.resume(run_id, finish=True)
        done = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert done.usage == reached.usage
    assert "made of quotations" in await house.read_report_markdown(run_id)
