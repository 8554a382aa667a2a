"""What the searches leave open may open a second round: planned by the planner, once, within the budget, told in events."""

import json
from typing import Any
from uuid import uuid4

import pytest

from app.domain.budget import StopReason
from app.domain.chat import ChatRequest
from app.domain.errors import ModelRefused
from app.domain.evidence import Finding, Quote, Source, snapshot_hash
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import Effort, ResearchQuery
from app.domain.report import Report
from app.domain.run import EventType
from tests.workflows.agent_kit import make_kit, run_chain, step_of
from tests.workflows.sensible_model import answer_sensibly
from workflows.agents.effort import BOUNDS
from workflows.agents.plan_repair import SubtaskAnswer
from workflows.agents.second_round import extend_plan, plan_second_round
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local_record import LocalRecord
from workflows.systems.steering import PlanSteering

QUESTION = "How did presidents justify tariffs before 1900?"
FURTHER = {"title": "Figures", "question": "What revenue did the tariff of 1824 bring?", "depends_on": ["s2", "s9"]}
REPEATED = {"title": "Again", "question": "Tariff and domestic  manufactures?", "depends_on": []}


def planning(further: ScriptedAnswer, gaps: list[str]) -> ScriptedModel:
    """A model whose findings leave these gaps, without conflicts, and whose planner then asks for this."""

    def answer(request: ChatRequest) -> ScriptedAnswer:
        step = step_of(request)
        if step == "second_round":
            return further
        said = answer_sensibly(request)
        return json.dumps({**json.loads(said), "gaps": gaps, "conflicts": []}) if step == "finding" else said

    return ScriptedModel(answer)


async def run(model: ScriptedModel, **more: Any) -> tuple[Report, LocalRecord, list[tuple[EventType, dict[str, Any]]]]:
    told: list[tuple[EventType, dict[str, Any]]] = []
    allow, bounds = more.pop("allow", lambda _, __: None), more.pop("bounds", None)
    record = LocalRecord("t", watch=lambda kind, _, payload: told.append((kind, dict(payload))), allow=allow)
    return await run_chain(make_kit(model, record, bounds=bounds), record, QUESTION, **more), record, told


def agents_of(record: LocalRecord) -> list[str]:
    return list(dict.fromkeys(turn.agent for turn in record.trajectory.turns if not turn.agent.startswith("report")))


async def test_gaps_open_a_second_round_which_reads_what_it_depends_on_and_is_told() -> None:
    model = planning(json.dumps({"subtasks": [FURTHER, REPEATED]}), ["figures of the treasury"])
    report, record, told = await run(model)
    assert agents_of(record) == ["plan", "search/s1", "search/s2", "search/s3", "second_plan", "search/s4"]
    [planned] = [r for r in model.requests if step_of(r) == "second_round"]
    assert planned.messages[-1].content.count("figures of the treasury") == 3
    opening = next(r for r in model.requests if step_of(r) == "act" and FURTHER["title"] in r.messages[-1].content)
    assert "[search/s2, finding]" in opening.messages[-1].content
    assert "[search/s1, finding]" not in opening.messages[-1].content
    [revised] = [payload["plan"] for kind, payload in told if kind is EventType.PLAN_REVISED]
    assert [s["id"] for s in revised["subtasks"]] == ["s1", "s2", "s3", "s4"]
    assert revised["revision"] == 2
    written = next(r for r in model.requests if step_of(r) == "text")
    assert "## Figures" in written.messages[-1].content
    assert report.quotes


async def test_no_second_round_where_nothing_is_open() -> None:
    _, record, _ = await run(planning(json.dumps({"subtasks": [FURTHER]}), []))
    assert "second_plan" not in agents_of(record)


async def test_at_quick_effort_one_subtask_is_added() -> None:
    other = {**FURTHER, "title": "Ships", "question": "How many ships were there?"}
    model = planning(json.dumps({"subtasks": [FURTHER, other]}), ["figures"])
    _, record, _ = await run(model, effort=Effort.QUICK, bounds=BOUNDS[Effort.QUICK])
    assert agents_of(record)[-2:] == ["second_plan", "search/s4"]


async def test_a_report_that_is_brought_up_to_date_keeps_to_its_plan() -> None:
    model = planning(json.dumps({"subtasks": [FURTHER]}), ["figures"])
    _, record, told = await run(model, refreshes=uuid4())
    assert agents_of(record) == ["plan", "search/s1", "search/s2", "search/s3"]
    assert not [kind for kind, _ in told if kind is EventType.PLAN_REVISED]


@pytest.mark.parametrize("further", ['{"subtasks": []}', json.dumps({"subtasks": [REPEATED]}), ModelRefused("no"), "nonsense"])
async def test_a_planner_that_asks_for_nothing_new_or_fails_leaves_the_first_round(further: ScriptedAnswer) -> None:
    report, record, told = await run(planning(further, ["figures"]))
    assert agents_of(record)[-1] == ("search/s3" if isinstance(further, ModelRefused) else "second_plan")
    assert report.quotes
    assert not [kind for kind, _ in told if kind is EventType.PLAN_REVISED]
    failed = any("second round" in str(payload.get("message")) for _, payload in told)
    assert failed is (not str(further).startswith("{"))


async def test_the_second_round_stays_within_the_budget() -> None:
    model = planning(json.dumps({"subtasks": [FURTHER]}), ["figures"])
    report, record, _ = await run(model, allow=lambda agent, _: StopReason.BUDGET if agent == "second_plan" else None)
    assert "search/s4" not in agents_of(record)
    assert report.quotes


async def test_the_second_round_opens_no_third() -> None:
    model = planning(json.dumps({"subtasks": [FURTHER]}), ["figures"])
    await run(model)
    assert [step_of(r) for r in model.requests].count("second_round") == 1


def test_further_subtasks_have_neither_the_id_nor_the_question_of_one_that_was_taken_out() -> None:
    def subtask(name: str) -> Subtask:
        return Subtask(id=name, title=name, question=f"What of {name}?")

    steering = PlanSteering(ResearchPlan(subtasks=(subtask("s1"), subtask("s2"))))
    plan = steering.revise(ResearchPlan(subtasks=(subtask("s1"),)))
    proposed = [SubtaskAnswer(title=name, question=f"what of  {name}?") for name in ("s2", "figures")]
    assert [(s.id, s.question) for s in extend_plan(plan, proposed, 3)] == [("s3", "what of  figures?")]


@pytest.mark.parametrize(("address", "planned"), [("file:///Leases/mill.txt", []), ("https://example.org/mill", ["s2"])])
async def test_a_further_part_carries_no_sentence_of_a_private_source_outside(address: str, planned: list[str]) -> None:
    sentence = "The reserve price of the mill is ninety thousand crowns and no bidder may learn of it."
    source = Source(url=address, title="The mill", snapshot=snapshot_hash(sentence))
    quote = Quote(text=sentence, start=0, end=len(sentence), source=source)
    finding = Finding(subtask_id="s1", answer=sentence, quotes=(quote,), gaps=("when",), stop=StopReason.SUFFICIENT)
    plan = ResearchPlan(title="The mill", subtasks=(Subtask(id="s1", title="Price", question="What does it cost?"),))
    told: list[str] = []
    record = LocalRecord("t", watch=lambda kind, _, payload: told.append(payload.get("message", "")))
    model = planning(json.dumps({"subtasks": [{"title": "More", "question": f"Who knows that {sentence}"}]}), ["when"])
    further = await plan_second_round(ResearchQuery(question=QUESTION), plan, (finding,), make_kit(model, record))
    assert [subtask.id for subtask in further] == planned
    assert [message for message in told if "private source" in message] == ([] if planned else told[-1:])
