"""What breaks and what becomes of the run: the rest goes on, and the reader is told."""

import asyncio
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.domain.budget import StopReason
from app.domain.errors import ModelUnavailable, ToolUnavailable
from app.domain.query import Language
from app.domain.run import EventType, RunStatus
from tests.workflows.agent_kit import PROMPTS
from tests.workflows.durable.toys import SOURCE, Gate, make_quoting_toys, make_toy_agents
from tests.workflows.durable.whole_product import WholeProduct
from workflows.agents.agent_set import AgentSet
from workflows.agents.model_driven import MODEL_DRIVEN
from workflows.agents.ports import BudgetSpent
from workflows.chat_models.scripted import ScriptedModel
from workflows.durable.worker import run_worker


def broken(agents: AgentSet, **stages: str) -> AgentSet:
    """These agents, but some stages raise an error with the given words; `search` names the one subtask that does."""

    async def fail(*_: Any) -> Any:
        raise RuntimeError(stages.get("report") or stages["plan"])

    async def search(subtask: Any, *rest: Any) -> Any:
        if subtask.id == stages["search"]:
            raise RuntimeError("the moon is in the way")
        return await agents.search(subtask, *rest)

    changed = {name: search if name == "search" else fail for name in stages}
    return replace(agents, **changed)


async def test_when_one_of_five_searches_fails_for_good_the_report_uses_the_others_and_says_so(house: WholeProduct) -> None:
    async with house.start_worker(broken(make_toy_agents(subtasks=5), search="s3")):
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert "s3 failed: the moon is in the way" in await house.read_report_markdown(run_id)
    outline = next(said for said in house.model.asked if said.startswith("outline"))
    assert outline == "outline of s1:sufficient, s2:sufficient, s3:failed, s4:sufficient, s5:sufficient "


async def test_a_search_that_leaves_no_finding_at_all_leaves_the_others_theirs(house: WholeProduct) -> None:
    agents = make_toy_agents()

    async def search(subtask: Any, *rest: Any) -> Any:
        found = await agents.search(subtask, *rest)
        return None if subtask.id == "s2" else found

    async with house.start_worker(replace(agents, search=search)):
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert "s2 failed: 'NoneType' object has no attribute 'quotes'" in await house.read_report_markdown(run_id)
    assert any(said.startswith("outline of s1:sufficient, s2:failed, s3:sufficient") for said in house.model.asked)
    assert len(house.model.asked) == len(set(house.model.asked))


async def test_when_planning_fails_the_question_itself_is_the_plan(house: WholeProduct) -> None:
    async with house.start_worker(broken(make_toy_agents(), plan="no idea")):
        run_id = await house.ask("why tariffs?")
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert run.plan is not None
    assert [s.question for s in run.plan.subtasks] == ["why tariffs?"]
    assert "no idea" in str(await house.list_events(run_id, EventType.WARNING))


async def test_when_the_report_agent_fails_the_report_is_a_brief_and_says_so(house: WholeProduct) -> None:
    async with house.start_worker(broken(make_toy_agents(), report="out of words")):
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    written = await house.read_report_markdown(run_id)
    assert "made of quotations" in written
    assert "did not write this report (an error of the program stopped it)" in written
    assert "out of words" in str(await house.list_events(run_id, EventType.WARNING))


async def test_a_model_of_gibberish_leaves_a_brief_on_the_question(house: WholeProduct) -> None:
    shop = house.make_workshop(MODEL_DRIVEN, chat=ScriptedModel(lambda _: "gibberish"), prompts=PROMPTS)
    async with run_worker(house.client, shop, "test-gibberish"):
        run_id = await house.ask("why tariffs?")
        await house.wait_for(run_id, RunStatus.COMPLETED)
    told = await house.read_report_markdown(run_id)
    assert "No sentence of this report is the language model's" in told
    assert "“President number" in told
    assert "why tariffs?" in house.index.searched, "the question itself is searched"


async def test_a_report_that_the_budget_ended_says_why_in_the_language_of_the_run(house: WholeProduct) -> None:
    async def spent(*_: Any) -> Any:
        raise BudgetSpent(StopReason.BUDGET)

    async with house.start_worker(replace(make_toy_agents(), report=spent)):
        run_id = await house.ask("为什么要征收关税？", language=Language.CHINESE)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert "本报告并非由语言模型撰写（预算已用尽）" in await house.read_report_markdown(run_id)


async def test_a_run_that_can_produce_nothing_fails_with_the_reason(house: WholeProduct) -> None:
    async with house.start_worker(
        broken(make_toy_agents(), report="out of words"), fallback=broken(make_quoting_toys(), report="no paper")
    ):
        run_id = await house.ask()
        run = await house.wait_for(run_id, RunStatus.FAILED)
    assert "no paper" in run.detail


async def test_a_rate_limit_is_waited_out_as_the_server_wishes(house: WholeProduct) -> None:
    refused: list[float] = []

    async def limited(said: str) -> None:
        if said.startswith("s2 turn 1") and len(refused) < 2:
            refused.append(time.monotonic())
            raise ModelUnavailable("429 too many requests", retry_after=timedelta(seconds=1))

    house.model.hook = limited
    async with house.start_worker():
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert refused[1] - refused[0] >= 1
    waiting = await house.list_events(run_id, EventType.WAITING)
    assert waiting[0]["agent"] == "search/s2"
    assert waiting[0]["payload"]["detail"] == "429 too many requests"
    assert 0 < waiting[0]["payload"]["retry_in_s"] < 2


async def test_an_outage_is_survived_and_siblings_keep_what_they_have(house: WholeProduct) -> None:
    down_until = [0.0]

    async def away(said: str) -> None:
        if said.startswith("s2 turn 1") and not down_until[0]:
            down_until[0] = time.monotonic() + 3
        if time.monotonic() < down_until[0]:
            raise ModelUnavailable("connection refused")

    house.model.hook = away
    async with house.start_worker():
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert len(house.model.answered) == len(set(house.model.answered))
    assert await house.list_events(run_id, EventType.WAITING)
    assert await house.list_statuses(run_id) == ["running", "completed"]


async def test_an_index_that_restarts_is_waited_for(house: WholeProduct) -> None:
    failures = [3]

    async def restarting(query: str) -> None:
        if query == "s1 1" and failures[0]:
            failures[0] -= 1
            raise ToolUnavailable("the index does not answer")

    house.index.hook = restarting
    async with house.start_worker():
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    calls = await house.list_events(run_id, EventType.TOOL_CALL)
    assert [call["payload"]["error"] for call in calls] == [""] * 9


@pytest.mark.parametrize("told", ["finish", "drop"])
async def test_a_search_that_hands_over_what_it_has_waits_for_an_index_that_restarts(house: WholeProduct, told: str) -> None:
    failures = [2]

    async def restarting(asked: str) -> None:
        if asked == SOURCE.snapshot and failures[0]:
            failures[0] -= 1
            raise ToolUnavailable("the index does not answer")

    house.index.hook, gate = restarting, Gate("s1 turn 1")
    house.model.hook = gate
    async with house.start_worker(make_toy_agents(subtasks=1)):
        run_id = await house.ask()
        await gate.reached.wait()
        await (house.steering.resume(run_id, finish=True) if told == "finish" else house.steering.drop_subtask(run_id, "s1"))
        gate.open()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert failures == [0]
    [found] = [e["payload"] for e in await house.list_events(run_id, EventType.STAGE_FINISHED) if e["agent"] == "search/s1"]
    assert found["quotes"] >= 1
    assert "[1]" in await house.read_report_markdown(run_id)


async def test_a_pause_during_an_outage_takes_effect(house: WholeProduct) -> None:
    async def away(said: str) -> None:
        if said.startswith("s"):
            raise ModelUnavailable("connection refused")

    house.model.hook = away
    async with house.start_worker():
        run_id = await house.ask()
        while not await house.list_events(run_id, EventType.WAITING):
            await asyncio.sleep(0.05)
        await house.steering.pause(run_id)
        await house.wait_for(run_id, RunStatus.PAUSED)


async def test_a_stopping_worker_stores_its_turns_and_another_goes_on(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker(build="same"):
        run_id = await house.ask()
        await gate.reached.wait()
        asyncio.get_running_loop().call_later(0.5, gate.open)
    answered = list(house.model.answered)
    assert any(said.startswith("s2 turn 1") for said in answered)
    assert not any(said.startswith("s2 turn 2") for said in answered)
    async with house.start_worker(build="same"):
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert len(house.model.asked) == len(set(house.model.asked))


@pytest.mark.parametrize("question", ["what?", "关税是什么？"])
async def test_two_runs_share_a_worker_and_nothing_else(house: WholeProduct, question: str) -> None:
    async with house.start_worker():
        first, second = await house.ask(question), await house.ask(question)
        await house.wait_for(first, RunStatus.COMPLETED)
        await house.wait_for(second, RunStatus.COMPLETED)
    assert (await house.get_run(first)).usage == (await house.get_run(second)).usage
    assert len(house.index.searched) == 18
