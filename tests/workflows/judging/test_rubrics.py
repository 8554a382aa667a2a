"""Rubrics for a question: by a model however foolish, and without one; and questions back."""

import json
import random

import pytest

from app.domain.errors import ModelRefused
from app.domain.options import SearchScope
from app.domain.query import Clarification, Language, ResearchQuery
from app.domain.rubric import Category, Origin
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.random_answers import RandomAnswers
from workflows.agents.clarification import ask_reader_back
from workflows.chat_models.absent import AbsentModel
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.general_rubric import GeneralDemand, demand_of, make_general_rubric
from workflows.judging.rubric_generation import draft_rubric

QUERY = ResearchQuery(question="How did Grover Cleveland and Benjamin Harrison justify tariffs from 1885 to 1893?")
CHINESE = ResearchQuery(question="总统们怎样为关税辩护？", language=Language.CHINESE)


def proposed(n: int, **changes: object) -> dict[str, object]:
    return {"title": f"Point {n}", "description": f"Key Criterion: Names reason {n}.", "weight": 5, **changes}


def answering(criteria: list[object]) -> ScriptedModel:
    return ScriptedModel(lambda _: json.dumps({"criteria": criteria}))


async def test_a_models_rubric_is_mended_where_it_is_foolish() -> None:
    criteria = [
        *(proposed(n) for n in range(5)),
        proposed(5, weight=1),
        proposed(6, description="Names a source. And another one.", weight=-7, title=""),
        proposed(7, description="Optional Criterion: is short", weight=5),
        proposed(0, description="Key Criterion: the same title again"),
        proposed(8, description="Key Criterion: "),
        "Important Criterion: A bare string.",
    ]
    model, record = answering(criteria), make_record()
    rubric = await draft_rubric(QUERY, make_kit(model, record), ["Revenue", "Protection"])
    assert (rubric.origin, rubric.model, rubric.notice) == (Origin.MODEL, "scripted", "")
    assert [c.weight for c in rubric.criteria] == [5, 5, 5, 5, 5, 5, -2, 2, 3]
    assert rubric.criteria[6].description == "Error Criterion: Names a source; And another one."
    assert rubric.criteria[8].demand == "A bare string."
    prompt = model.requests[0].messages[-1].content
    assert QUERY.question in prompt
    assert "- Protection" in prompt
    again = make_record(record.trajectory.turns)
    assert await draft_rubric(QUERY, make_kit(ScriptedModel([]), again), ["Revenue", "Protection"]) == rubric


async def test_too_few_criteria_are_filled_up_and_it_says_so() -> None:
    errors = [proposed(n, description=f"Error Criterion: Lacks {n}.", weight=-1) for n in range(8)]
    for criteria, added in (([proposed(1), proposed(2)], 5), (errors, 1)):
        rubric = await draft_rubric(QUERY, make_kit(answering(list(criteria)), make_record()))
        assert rubric.notice.startswith(f"{added} general criteria were added")
        assert len(rubric.criteria) == len(criteria) + added
        assert any(c.weight > 0 for c in rubric.criteria)
    many = [proposed(n, description=f"Error Criterion: Lacks {n}.", weight=-1) for n in range(25)]
    rubric = await draft_rubric(QUERY, make_kit(answering(list(many)), make_record()))
    assert len(rubric.criteria) == 20
    assert [c.weight > 0 for c in rubric.criteria].count(True) == 1, "faults alone ask nothing of a report"


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_a_model_says_there_is_a_rubric(seed: int) -> None:
    query = CHINESE if seed % 2 else QUERY
    rubric = await draft_rubric(
        query, make_kit(ScriptedModel(RandomAnswers(random.Random(seed))), make_record(), language=query.language)
    )
    assert 7 <= len(rubric.criteria) <= 20


async def test_a_model_that_fails_leaves_the_general_rubric_with_the_reason() -> None:
    rubric = await draft_rubric(QUERY, make_kit(ScriptedModel(lambda _: ModelRefused("bad key")), make_record()))
    assert rubric.origin is Origin.GENERAL
    assert "bad key" in rubric.notice
    assert rubric.criteria == make_general_rubric(QUERY).criteria


@pytest.mark.parametrize("query", [QUERY, CHINESE, ResearchQuery(question="??? x.y!: {what} " + "z" * 300)])
async def test_without_a_model_the_rubric_is_general_knows_its_own_words_and_says_what_it_is(query: ResearchQuery) -> None:
    rubric = await draft_rubric(query, make_kit(AbsentModel(), make_record(), language=query.language), asks_a_model=False)
    assert rubric.origin is Origin.GENERAL
    assert ("未使用语言模型" if query.language is Language.CHINESE else "Made without a language model") in rubric.notice
    demands = [demand_of(criterion) for criterion in rubric.criteria]
    assert None not in demands
    assert {d[0] for d in demands if d} >= {
        GeneralDemand.ANSWER,
        GeneralDemand.CITES,
        GeneralDemand.ASPECT,
        GeneralDemand.SUPPORT,
        GeneralDemand.OPPOSED,
    }
    assert {c.category for c in rubric.criteria} == set(Category)


def test_the_general_rubric_follows_the_question_or_its_plan() -> None:
    def aspects(*parts: str) -> list[str]:
        found = (demand_of(criterion) for criterion in make_general_rubric(QUERY, parts).criteria)
        return [what for demand, what in filter(None, found) if demand in (GeneralDemand.ASPECT, GeneralDemand.PERIOD)]

    assert aspects() == ["Grover Cleveland", "Benjamin Harrison", "1885-1893"]
    assert aspects("Revenue: 1885.", "Protection") == ["Revenue 1885", "Protection", "1885-1893"]


async def test_a_model_asks_back_at_most_three_things_and_a_clear_question_nothing() -> None:
    questions = [
        {"question": f"Which {what}?\x00", "why": "It changes the plan.", "options": ["a", "a", "b", "", "c", "d", "e"]}
        for what in ("years", "years", "place", "sector", "group")
    ]
    kit = make_kit(ScriptedModel(lambda _: json.dumps({"questions": [*questions, {"question": " "}]})), make_record())
    asked = await ask_reader_back(QUERY, kit)
    assert [q.question for q in asked] == ["Which years?", "Which place?", "Which sector?"]
    assert asked[0].options == ("a", "b", "c", "d")
    assert await ask_reader_back(QUERY, make_kit(ScriptedModel(lambda _: '{"questions": []}'), make_record())) == ()


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How did American presidents justify tariffs before 1900?", 0),
        ("How did presidents justify tariffs before 1900?", 1),
        ("How has the price of bread changed?", 1),
        ("How has the price of bread changed since 1990?", 0),
        ("What does the government do about unemployment?", 1),
        ("What does the government of Norway do about unemployment?", 0),
        ("How have minimum wages changed recently?", 2),
        ("最低工资近年来有什么变化？", 2),
        ("Why is the sky blue?", 0),
    ],
)
async def test_without_a_model_only_what_the_wording_leaves_open_is_asked(question: str, asked: int) -> None:
    query = ResearchQuery(question=question)
    kit = make_kit(ScriptedModel(lambda _: ModelRefused("no")), make_record())
    assert len(await ask_reader_back(query, kit, asks_a_model=False)) == asked
    assert len(await ask_reader_back(query, kit)) == asked, "a model that fails leaves the same"


async def test_what_was_answered_or_chosen_is_not_asked_again() -> None:
    kit = make_kit(AbsentModel(), make_record())
    question = "How has the price of bread changed?"
    chosen = ResearchQuery(question=question, scope=SearchScope(published_from="2001-01-01"))  # type: ignore[arg-type]
    answered = ResearchQuery(question=question, clarified=(Clarification(question="Which years?", answer="1990 to 2000"),))
    for query in (chosen, answered):
        assert await ask_reader_back(query, kit, asks_a_model=False) == ()
