import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.chat import Completion
from app.domain.errors import ModelRefused
from app.domain.options import SearchScope
from app.domain.plan import ReaderWants, ResearchPlan
from app.domain.query import Language, ResearchQuery
from app.domain.run import EventType
from tests.workflows.agent_kit import make_kit, make_record, step_of
from workflows.agents.kit import Bounds
from workflows.agents.plan_repair import PlanAnswer, SubtaskAnswer, repair_plan
from workflows.agents.planning import make_plan
from workflows.agents.simple_plan import make_single_plan
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local_record import LocalRecord

QUERY = ResearchQuery(question="How did presidents justify tariffs before 1900?")
INTENT = json.dumps(
    {
        "goal": "learn the reasons",
        "must_cover": ["revenue"],
        "scope": "1789-1900",
        "form": "",
        "interpretations": [],
        "key_terms": ["duty"],
    }
)
GOOD = json.dumps(
    {
        "title": "Tariffs and their reasons",
        "subtasks": [
            {
                "id": "a",
                "title": "Revenue",
                "question": "Was revenue a reason?",
                "purpose": "p",
                "expected_evidence": "e",
                "depends_on": [],
            },
            {
                "id": "b",
                "title": "Protection",
                "question": "Was protection one?",
                "purpose": "",
                "expected_evidence": "",
                "depends_on": ["a"],
            },
        ],
    }
)


def answers(intent: ScriptedAnswer, plan: ScriptedAnswer) -> ScriptedModel:
    return ScriptedModel(lambda request: {"intent": intent, "plan": plan}[step_of(request)])


async def test_intent_then_plan() -> None:
    model, record = answers(INTENT, GOOD), make_record()
    plan = await make_plan(QUERY, make_kit(model, record))
    assert [step_of(r) for r in model.requests] == ["intent", "plan"]
    assert "learn the reasons" in plan.intent
    assert "learn the reasons" in model.requests[1].messages[-1].content
    assert [(s.id, s.title, s.depends_on) for s in plan.subtasks] == [("s1", "Revenue", ()), ("s2", "Protection", ("s1",))]
    assert plan.title == "Tariffs and their reasons"


async def test_the_plan_keeps_what_is_wanted_in_fields_and_only_stated_days_limit_the_sources() -> None:
    said = {
        "goal": "g",
        "form": "a list",
        "audience": "farmers",
        "length": "a page",
        "must_cover": ["x", " "],
        "key_terms": ["k"],
    }
    for days, expected in ((("2020-01-01", ""), (date(2020, 1, 1), None)), (("the 1890s", "2019"), (None, None))):
        intent = json.dumps(said | dict(zip(("published_from", "published_to"), days, strict=True)))
        plan = await make_plan(QUERY, make_kit(answers(intent, GOOD), make_record()))
        assert (plan.intent, plan.wants.form, plan.wants.audience, plan.wants.must_cover) == ("g", "a list", "farmers", ("x",))
        assert (plan.wants.published_from, plan.wants.published_to) == expected
        assert ResearchPlan.of_any_version(plan.model_dump(mode="json")) == plan


def test_a_plan_narrows_the_readers_scope_and_never_widens_it() -> None:
    wants = ReaderWants(published_from=date(2020, 1, 1), published_to=date(2024, 12, 31))
    plan = make_single_plan(QUERY).model_copy(update={"wants": wants})
    assert plan.narrow(QUERY).scope == SearchScope(published_from=wants.published_from, published_to=wants.published_to)
    scope = SearchScope(published_from=date(2022, 5, 1), domains_allowed=("who.int",))
    assert plan.narrow(QUERY.model_copy(update={"scope": scope})).scope == scope.model_copy(
        update={"published_to": date(2024, 12, 31)}
    )
    later = QUERY.model_copy(update={"scope": SearchScope(published_from=date(2025, 1, 1))})
    assert plan.narrow(later) == later, "the reader's own scope wins"
    assert make_single_plan(QUERY).narrow(QUERY) is QUERY


async def test_a_chinese_question_is_planned_in_chinese() -> None:
    model = answers(INTENT, GOOD)
    await make_plan(QUERY, make_kit(model, make_record(), language=Language.CHINESE))
    assert "子任务" in model.requests[1].messages[0].content


@pytest.mark.parametrize("broken", ["no plan today", '{"title": "x", "subtasks": []}', ModelRefused("no such model")])
async def test_without_a_plan_the_question_is_the_plan(broken: ScriptedAnswer) -> None:
    told: list[str] = []
    record = LocalRecord(
        "t", watch=lambda event, _, payload: told.append(payload["message"]) if event is EventType.WARNING else None
    )
    plan = await make_plan(QUERY, make_kit(answers(INTENT, broken), record))
    assert [s.question for s in plan.subtasks] == [QUERY.question]
    assert plan.intent
    assert any("could not split the question" in message for message in told)


async def test_an_answer_out_of_form_is_asked_again_with_the_error() -> None:
    model = ScriptedModel([INTENT, "I think we should look into revenue.", GOOD])
    plan = await make_plan(QUERY, make_kit(model, make_record()))
    assert len(plan.subtasks) == 2
    assert "no JSON object" in model.requests[2].messages[-1].content


async def test_an_answer_that_was_cut_off_gets_more_room() -> None:
    cut = Completion(text="<think>let me think at length", model="m", finish_reason="length")
    model = ScriptedModel([INTENT, cut, GOOD])
    assert len((await make_plan(QUERY, make_kit(model, make_record()))).subtasks) == 2
    assert model.requests[2].max_tokens == 3 * model.requests[1].max_tokens


async def test_no_more_subtasks_than_the_effort_allows() -> None:
    many = json.dumps({"title": "t", "subtasks": [{"id": f"x{i}", "question": f"Question {i}?"} for i in range(40)]})
    plan = await make_plan(QUERY, make_kit(answers(INTENT, many), make_record(), bounds=Bounds(subtasks=3)))
    assert len(plan.subtasks) == 3


ids = st.sampled_from(["s1", "s2", "S2", "a", "", "s9", "a "])
subtasks = st.builds(
    SubtaskAnswer,
    id=ids,
    title=st.text(max_size=8),
    question=st.sampled_from(["", " ", "Why?", "why ?", "Who?", "x" * 9_000, "\n"]),
    depends_on=st.lists(ids, max_size=4).map(tuple),
)


@given(st.lists(subtasks, max_size=20), st.text(max_size=400))
def test_any_proposal_becomes_a_valid_plan_or_none(proposed: list[SubtaskAnswer], title: str) -> None:
    plan = repair_plan(PlanAnswer(title=title, subtasks=tuple(proposed)), 8)
    if plan is not None:
        assert [s.id for s in plan.subtasks] == [f"s{i + 1}" for i in range(len(plan.subtasks))]
        assert len({s.question.casefold() for s in plan.subtasks}) == len(plan.subtasks) <= 8


def test_circles_lose_only_the_edge_that_closes_them() -> None:
    circle = [SubtaskAnswer(id=n, question=n, depends_on=(d,)) for n, d in (("a", "c"), ("b", "a"), ("c", "b"))]
    plan = repair_plan(PlanAnswer(subtasks=tuple(circle)), 8)
    assert plan is not None
    assert [s.depends_on for s in plan.subtasks] == [("s3",), ("s1",), ()]
