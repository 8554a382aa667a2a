"""The second round over real Temporal and PostgreSQL: a stage of its own, stored once, with the plan that it extends."""

import json
from dataclasses import replace

from app.domain.query import ResearchQuery
from app.domain.run import EventType, RunStatus
from tests.workflows.durable.whole_product import WholeProduct
from tests.workflows.systems.test_second_round import FURTHER, QUESTION, planning
from workflows.agents.model_driven import MODEL_DRIVEN
from workflows.durable.worker import run_worker
from workflows.prompts.library import PromptLibrary


async def test_a_run_opens_a_second_round_and_goes_on_with_the_longer_plan(house: WholeProduct) -> None:
    model = planning(json.dumps({"subtasks": [FURTHER]}), ["figures of the treasury"])
    shop = replace(house.make_workshop(), agents=MODEL_DRIVEN, chat=model, prompts=PromptLibrary.load())
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
