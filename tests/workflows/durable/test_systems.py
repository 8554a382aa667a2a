"""One question through several systems over real Temporal and PostgreSQL: same stages, same evidence, other agents."""

import asyncio
import json

import pytest

from app.asking.service.asking import Asking
from app.domain.budget import Budget
from app.domain.chat import ChatRequest
from app.domain.errors import Conflict
from app.domain.query import ResearchQuery, SystemName
from app.domain.run import EventType, RunStatus
from app.runs.nouns import AgreedRubric
from app.side_by_side.service.later_scores import LaterScores
from app.side_by_side.service.side_by_side import SideBySide, SideBySides
from tests.workflows.durable.test_rubric_stage import DRAFTED
from tests.workflows.durable.whole_product import WholeProduct
from tests.workflows.systems.one_question import QUESTION, answer_soundly
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.durable.report_task_workflow import AT_BUDGET
from workflows.durable.worker import run_worker
from workflows.prompts.library import PromptLibrary

OTHERS = (SystemName.REACT, SystemName.DEEPRUBRIC)


async def test_systems_side_by_side_share_what_their_tools_bring(house: WholeProduct) -> None:
    model = ScriptedModel(answer_soundly)
    shop = house.make_workshop(chat=model, prompts=PromptLibrary.load())
    async with run_worker(house.client, shop, "test-systems"):
        first = await house.runs.create(ResearchQuery(question=QUESTION, system=SystemName.MAMS), beside=OTHERS)
        shown = await SideBySides(house.database, house.runs).show(first.id)
        done = [await house.wait_for(column.run.id, RunStatus.COMPLETED) for column in shown.columns]
    assert [run.query.system for run in done] == [SystemName.MAMS, *OTHERS]
    assert sum(run.usage.model_calls for run in done) == len(model.requests), "each pays for its own calls"
    for run in done:
        stages = [event["payload"]["stage"] for event in await house.list_events(run.id, EventType.STAGE_FINISHED)]
        assert stages == ["plan", "search/s1", "report"]
        markdown = await house.read_report_markdown(run.id)
        assert "## Reasons" in markdown
        assert "[1]" in markdown

    columns = (await SideBySides(house.database, house.runs).show(first.id)).columns
    assert [column.interactions and column.interactions.tool_calls for column in columns] == [2, 2, 1]
    looked_for = [QUESTION, "tariff protection", "tariff revenue"]
    assert sorted(house.index.searched) == looked_for, "what MaMs and ReAct both look for is searched once"


async def test_reports_asked_without_a_rubric_are_judged_afterwards_by_one(house: WholeProduct) -> None:
    """One rubric for all, drafted once; what failed is judged again by it; the reports stay as they were."""

    def answers(request: ChatRequest) -> ScriptedAnswer:
        step = request.response_schema.name if request.response_schema else ""
        if step == "rubric":
            return json.dumps({"criteria": DRAFTED})
        return json.dumps({"reason": "so", "sentences": [], "rating": 7}) if step == "criterion" else answer_soundly(request)

    model = ScriptedModel(answers)
    shop = house.make_workshop(chat=model, prompts=PromptLibrary.load())
    beside = SideBySides(house.database, house.runs)
    scores = LaterScores(house.database, house.gateway, Asking(house.database, house.gateway, house.runs), beside)
    async with run_worker(house.client, shop, "test-systems"):
        first = (await house.runs.create(ResearchQuery(question=QUESTION, system=SystemName.MAMS), beside=OTHERS)).id
        with pytest.raises(Conflict, match="under way"):
            await scores.judge(first, None)
        runs = [column.run.id for column in (await beside.show(first)).columns]
        before = [(await house.wait_for(run, RunStatus.COMPLETED)).usage.model_calls for run in runs]
        written = [await house.read_report_markdown(run) for run in runs]
        await house.steering.set_budget(runs[1], Budget(max_tokens=1))

        async def judged() -> SideBySide:
            while any(column.judging for column in (await beside.show(first)).columns):
                await asyncio.sleep(0.05)
            return await beside.show(first)

        one, other = await asyncio.gather(scores.judge(first, None), scores.judge(runs[2], None), return_exceptions=True)
        assert isinstance(one, Conflict) != isinstance(other, Conflict), "both at once: one of them"
        shown = await judged()
        assert [bool(column.scorecard) for column in shown.columns] == [True, False, True]
        assert shown.columns[1].unjudged == AT_BUDGET
        rubric = shown.rubric
        assert rubric is not None
        with pytest.raises(Conflict, match="have a rubric already"):
            await scores.judge(first, AgreedRubric(rubric))
        await house.steering.set_budget(runs[1], Budget())
        await scores.judge(runs[1], None)
        shown = await judged()
    assert [c.scorecard.overall for c in shown.columns if c.scorecard] == [pytest.approx(6 / 9)] * 3
    assert shown.rubric == rubric
    assert [c.run.usage.model_calls - calls for c, calls in zip(shown.columns, before, strict=True)] == [len(DRAFTED)] * 3
    assert [await house.read_report_markdown(run) for run in runs] == written
    with pytest.raises(Conflict, match="no finished report"):
        await scores.judge(first, None)
