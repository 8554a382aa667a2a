"""The rubric of a run through real workers: drafted with the plan, edited, held to, delivered as a scorecard."""

import json
import re
from dataclasses import dataclass
from uuid import UUID

from app.asking.service.asking import Asking
from app.domain.budget import Budget
from app.domain.chat import ChatRequest, Completion
from app.domain.contract import DraftKind
from app.domain.query import ResearchQuery
from app.domain.rubric import Criterion, Origin
from app.domain.run import EventType, RunStatus
from tests.workflows.durable.toys import Gate, ToyModel
from tests.workflows.durable.whole_product import WholeProduct
from workflows.prompts.library import PromptLibrary

DRAFTED = [{"title": f"Point {n}", "description": f"Key Criterion: Says {n}.", "weight": 5} for n in range(7)]
MINE = Criterion(title="Mine", description="Important Criterion: Speaks of farmers.", weight=4)
TOYS_CALLS = 17
TOLD = {EventType.RUBRIC_DRAFTED, EventType.RUBRIC_EDITED, EventType.SCORECARD_READY}


@dataclass
class Judge(ToyModel):
    """Drafts a rubric, finds that farmers are missing until the report speaks of them, and adds them when it is told so."""

    async def complete(self, request: ChatRequest) -> Completion:
        done = await super().complete(request)
        step = request.response_schema.name if request.response_schema else ""
        said = "\n".join(message.content for message in request.messages)
        answers = {
            "rubric": {"criteria": DRAFTED},
            "criterion": {"reason": "so", "sentences": [], "rating": 2 if "farmers" in said and "planted" not in said else 9},
            "revision": {"edits": [], "additions": [{"section": 1, "heading": "", "text": "Farmers planted. [q1]"}]},
            "clarification": {"questions": [{"question": "Which years?", "why": "", "options": []}]},
        }
        return done.model_copy(update={"text": json.dumps(answers[step])}) if step in answers else done


def asking(house: WholeProduct) -> Asking:
    return Asking(house.database, house.gateway, house.runs)


async def agents_of(house: WholeProduct, run_id: UUID) -> list[str]:
    rows = await house.database.fetch("SELECT agent FROM turns WHERE run_id = $1 ORDER BY seq", run_id)
    return [row["agent"] for row in rows]


async def test_the_rubric_is_drafted_edited_held_to_and_comes_back_as_the_scorecard(house: WholeProduct) -> None:
    house.model = Judge()
    async with house.start_worker(prompts=PromptLibrary.load()):
        run_id = await house.ask(approve_plan=True, rubric=True)
        await house.wait_for(run_id, RunStatus.AWAITING_APPROVAL)
        drafted = (await asking(house).get_rubric(run_id)).rubric
        assert (drafted.origin, drafted.model, drafted.criteria[0].title) == (Origin.MODEL, "toy", "Point 0")
        await asking(house).edit_rubric(run_id, (MINE, *drafted.criteria))
        await house.steering.approve(run_id)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    card = await asking(house).get_scorecard(run_id)
    assert card.items[0].criterion == MINE
    assert (card.items[0].score, card.revised, card.judged) == (8 / 9, ("Mine",), 8)
    assert re.search(r"Farmers planted\. \[\d\]", await house.read_report_markdown(run_id))
    agents = await agents_of(house, run_id)
    assert agents.count("plan/rubric") == agents.count("report/revision") == agents.count("report/criterion/1/again") == 1
    assert [name for name in agents if name.startswith("report/criterion/")].count("report/criterion/8") == 1
    assert (await asking(house).get_rubric(run_id)).drafted == drafted, "what was drafted is kept beside what was agreed"
    assert [event["type"] for event in await house.list_events(run_id) if event["type"] in TOLD] == [
        "rubric_drafted",
        "rubric_edited",
        "scorecard_ready",
    ]


async def test_a_run_without_a_rubric_has_no_step_of_it(house: WholeProduct) -> None:
    async with house.start_worker():
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert len(house.model.asked) == TOYS_CALLS
    assert not any("rubric" in agent or "criterion" in agent for agent in await agents_of(house, run_id))
    assert await house.database.fetchval("SELECT count(*) FROM run_rubrics") == 0
    assert not [event for event in await house.list_events(run_id) if event["type"] in TOLD]


async def test_at_the_budget_the_report_waits_and_finishing_leaves_what_nobody_judged_open(house: WholeProduct) -> None:
    house.model = Judge()
    house.model.hook = gate = Gate("outline")
    async with house.start_worker(prompts=PromptLibrary.load()):
        run_id = await house.ask(rubric=True)
        await gate.reached.wait()
        used = (await house.get_run(run_id)).usage.tokens
        await house.steering.set_budget(run_id, Budget(max_tokens=used + 2_000))
        gate.open()
        await house.wait_for(run_id, RunStatus.BUDGET_REACHED)
        await house.steering.resume(run_id, finish=True)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    card = await asking(house).get_scorecard(run_id)
    assert (card.judged, card.overall) == (0, None)
    assert all("none could be asked" in item.missing for item in card.items)


async def test_drafts_for_a_question_that_is_no_run(house: WholeProduct) -> None:
    house.model = Judge()
    query = ResearchQuery(question="Why were tariffs raised?")
    async with house.start_worker(prompts=PromptLibrary.load()) as shop:
        rubric = await asking(house).draft(DraftKind.RUBRIC, query)
        questions = await asking(house).draft(DraftKind.CLARIFICATION, query)
        shop.asks_a_model = False
        general = await asking(house).draft(DraftKind.RUBRIC, query)
    assert rubric.draft.rubric is not None
    assert rubric.draft.usage.model_calls == 1
    assert [q.question for q in questions.draft.questions] == ["Which years?"]
    assert general.draft.rubric is not None
    assert (general.draft.rubric.origin, general.draft.model, general.draft.usage.model_calls) == (Origin.GENERAL, "", 0)
    assert await house.database.fetchval("SELECT count(*) FROM drafts") == 3
    assert await house.database.fetchval("SELECT count(*) FROM runs") == 0
