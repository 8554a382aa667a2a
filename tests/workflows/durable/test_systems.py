"""One question through several systems over real Temporal and PostgreSQL: same stages, same evidence, other agents."""

from dataclasses import replace

from app.domain.query import ResearchQuery, SystemName
from app.domain.run import EventType, RunStatus
from app.services.side_by_side import SideBySides
from tests.workflows.durable.house import House
from tests.workflows.systems.test_one_question import QUESTION, sound
from workflows.chat_models.scripted import ScriptedModel
from workflows.durable.worker import working
from workflows.prompts.library import PromptLibrary


async def test_systems_side_by_side_share_what_their_tools_bring(house: House) -> None:
    model = ScriptedModel(sound)
    shop = replace(house.workshop(), chat=model, prompts=PromptLibrary.load())
    async with working(house.client, shop, "test-systems"):
        others = (SystemName.REACT, SystemName.DEEPRUBRIC)
        first = await house.research.create(ResearchQuery(question=QUESTION, system=SystemName.MAMS), beside=others)
        shown = await SideBySides(house.database, house.research).show(first.id)
        done = [await house.until(column.run.id, RunStatus.COMPLETED) for column in shown.columns]
    assert [run.query.system for run in done] == [SystemName.MAMS, *others]
    assert sum(run.usage.model_calls for run in done) == len(model.requests), "each pays for its own calls"
    for run in done:
        stages = [event["payload"]["stage"] for event in await house.events(run.id, EventType.STAGE_FINISHED)]
        assert stages == ["plan", "search/s1", "report"]
        markdown = await house.markdown(run.id)
        assert "## Reasons" in markdown
        assert "[1]" in markdown

    columns = (await SideBySides(house.database, house.research).show(first.id)).columns
    assert [column.interactions and column.interactions.tool_calls for column in columns] == [2, 2, 1]
    looked_for = [QUESTION, "tariff protection", "tariff revenue"]
    assert sorted(house.index.searched) == looked_for, "what MaMs and ReAct both look for is searched once"
