"""The second round over real Temporal and PostgreSQL: a stage of its own, stored once, with the plan that it extends."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from app.domain.chat import ChatRequest, Completion
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.run import EventType, Run, RunStatus
from tests.workflows.agent_kit import step_of
from tests.workflows.durable.whole_product import WholeProduct
from tests.workflows.systems.test_second_round import FURTHER, QUESTION, planning
from workflows.agents.model_driven import MODEL_DRIVEN
from workflows.chat_models.scripted import ScriptedModel
from workflows.durable.worker import run_worker
from workflows.prompts.library import PromptLibrary


async def test_a_run_opens_a_second_round_and_goes_on_with_the_longer_plan(house: WholeProduct) -> None:
    model = planning(json.dumps({"subtasks": [FURTHER]}), ["figures of the treasury"])
    shop = house.make_workshop(MODEL_DRIVEN, chat=model, prompts=PromptLibrary.load())
    async with run_worker(house.client, shop, "test-second-round"):
        made = await house.runs.create(ResearchQuery(question=QUESTION))
        run = await house.wait_for(made.id, RunStatus.COMPLETED)
    stages = [event["payload"]["stage"] for event in await house.list_events(run.id, EventType.STAGE_FINISHED)]
    assert sorted(stages[1:4]) == ["search/s1", "search/s2", "search/s3"]
    assert stages[4:] == ["second_plan", "search/s4", "report"]
    [revised] = await house.list_events(run.id, EventType.PLAN_REVISED)
    assert [s["id"] for s in revised["payload"]["plan"]["subtasks"]] == ["s1", "s2", "s3", "s4"]
    assert run.plan is not None
    assert (run.plan.revision, len(run.plan.subtasks)) == (2, 4)
    assert run.usage.model_calls == len(model.requests)


@dataclass
class HeldModel:
    """Plans a second round. It holds back its first answer to a request of one step that speaks of something."""

    step: str
    about: str
    name: str = "held"
    answers: ScriptedModel = field(default_factory=lambda: planning(json.dumps({"subtasks": [FURTHER]}), ["figures"]))
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    free: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, request: ChatRequest) -> Completion:
        if step_of(request) == self.step and any(self.about in message.content for message in request.messages):
            self.asked.set()
            await self.free.wait()
        return await self.answers.complete(request)


@asynccontextmanager
async def asked_of(house: WholeProduct, model: HeldModel) -> AsyncIterator[UUID]:
    """Ask a question, and yield the run when the model holds an answer back."""
    shop = house.make_workshop(MODEL_DRIVEN, chat=model, prompts=PromptLibrary.load())
    async with run_worker(house.client, shop, "test-second-round"):
        made = await house.runs.create(ResearchQuery(question=QUESTION))
        await model.asked.wait()
        yield UUID(str(made.id))


def ids_of(run: Run) -> list[str]:
    assert run.plan is not None
    return [subtask.id for subtask in run.plan.subtasks]


async def test_a_further_subtask_that_the_reader_takes_out_stays_out(house: WholeProduct) -> None:
    model = HeldModel("act", FURTHER["title"])
    async with asked_of(house, model) as run_id:
        await house.steering.pause(run_id)
        model.free.set()
        paused = await house.wait_for(run_id, RunStatus.PAUSED)
        assert ids_of(paused) == ["s1", "s2", "s3", "s4"]
        assert paused.plan is not None
        await house.steering.revise_plan(run_id, ResearchPlan(subtasks=paused.plan.subtasks[:3]))
        await house.steering.resume(run_id, finish=False)
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert ids_of(run) == ["s1", "s2", "s3"]
    finished = [event["payload"]["stage"] for event in await house.list_events(run_id, EventType.STAGE_FINISHED)]
    assert "search/s4" not in finished


async def test_what_the_reader_adds_while_the_second_round_is_planned_stands_beside_it(house: WholeProduct) -> None:
    model = HeldModel("second_round", "")
    async with asked_of(house, model) as run_id:
        await house.steering.add_subtask(run_id, Subtask(id="added1", title="Wages", question="Which wages of labor?"))
        model.free.set()
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert ids_of(run) == ["s1", "s2", "s3", "added1", "s4"]
    revised = [event["payload"]["plan"] for event in await house.list_events(run_id, EventType.PLAN_REVISED)]
    assert [(plan["revision"], len(plan["subtasks"])) for plan in revised] == [(2, 4), (3, 5)]
