"""Runs of each system over real Temporal and PostgreSQL: same stages, same evidence, other agents."""

from dataclasses import replace

import pytest

from app.domain.query import ResearchQuery, SystemName
from app.domain.run import EventType, RunStatus
from tests.workflows.durable.house import House
from tests.workflows.systems.test_one_question import ALONE, QUESTION, sound
from workflows.chat_models.scripted import ScriptedModel
from workflows.durable.worker import working
from workflows.prompts.library import PromptLibrary


@pytest.mark.parametrize("system", ALONE)
async def test_a_run_of_a_system_that_works_the_question_as_a_whole(house: House, system: SystemName) -> None:
    model = ScriptedModel(sound)
    shop = replace(house.workshop(), chat=model, prompts=PromptLibrary.load())
    async with working(house.client, shop, f"test-{system}"):
        made = await house.research.create(ResearchQuery(question=QUESTION, system=system))
        done = await house.until(made.id, RunStatus.COMPLETED)
    assert done.usage.model_calls == len(model.requests)
    stages = [event["payload"]["stage"] for event in await house.events(made.id, EventType.STAGE_FINISHED)]
    assert stages == ["plan", "search/s1", "report"]
    markdown = await house.markdown(made.id)
    assert "## Reasons" in markdown
    assert "[1]" in markdown
