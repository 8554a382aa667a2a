"""A whole reward, its judges asked by a model that reads what it is shown."""

import asyncio
import json
from datetime import date

import pytest

from app.domain.chat import ChatRequest, Completion
from app.domain.errors import ModelRefused
from app.domain.evidence_rubric import CriterionType, EvidenceCriterion
from app.domain.missing import Missing
from training.rewards.composites import deeprubric_reward
from training.rewards.deeprubric import RewardSample, judge_deeprubric_parts, judge_rubric_reward
from training.rewards.transcript import Transcript, read_step
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.prompts.library import PromptLibrary

PROMPTS = PromptLibrary.load()
STORE = {"a": "Rates on wool doubled in 1828.", "b": "Cotton was shipped to Liverpool."}
REPORT = (
    '<cite id="a">Rates on imported wool doubled in 1828</cite>. '
    '<cite id="ghost">The king of France objected loudly</cite>. In short, tariffs rose.'
)


def judge(request: ChatRequest) -> ScriptedAnswer:
    shown = request.messages[-1].content
    match request.response_schema.name if request.response_schema else "":
        case "criterion_met":
            return json.dumps({"score": 4 if "wool" in shown.partition("<criterion>")[2].partition("</criterion>")[0] else 2})
        case "cited_support":
            return json.dumps({"rating": "full" if "doubled" in shown.partition("<cited_text>")[2] else "none"})
        case "cited_relevance":
            return json.dumps({"result": "yes"})
        case _:
            return json.dumps({"result": "no"})


def kit(model: ScriptedModel) -> Kit:
    return Kit(model, {}, BatchRecord(AnswerStore(), 4), PROMPTS, SchemaCodec(), date(2026, 1, 1), lambda: 0.0)


def criterion(description: str, weight: float) -> EvidenceCriterion:
    return EvidenceCriterion(id=f"R{len(description)}", type=CriterionType.LOGICAL, description=description, weight=weight)


WOOL, SILK = criterion("names wool", 0.75), criterion("names silk", 0.25)


def sample(answer: str, rubric: tuple[EvidenceCriterion, ...] = (WOOL, SILK)) -> RewardSample:
    steps = [
        read_step(
            '<think>look</think><tool_call>{"name": "search", "arguments": {"query": "wool"}}</tool_call>', ["Rates doubled."]
        ),
        read_step(f"<think>write</think><answer>{answer}</answer>"),
    ]
    return RewardSample("How did tariffs change?", Transcript(tuple(steps)), STORE, rubric)


async def test_a_whole_reward_by_hand() -> None:
    model = ScriptedModel(judge)
    parts = await judge_deeprubric_parts(sample(REPORT), kit(model))
    assert parts.rubric == pytest.approx(0.75 * 1 + 0.25 * 0.5)
    assert parts.format == pytest.approx(1.0)
    assert parts.search == pytest.approx(1 / 6)
    assert isinstance(parts.citation, float)
    assert 0.6 * 0.5 < parts.citation < 0.6 * 0.5 + 0.4 * 0.5  # one of two cited claims holds, half the ids exist
    assert isinstance(deeprubric_reward(parts), float)
    asked = [request.response_schema.name for request in model.requests if request.response_schema]
    assert sorted(asked) == ["cited_relevance", "cited_support", "criterion_met", "criterion_met", "needs_citation"]


@pytest.mark.parametrize(("published", "asked"), [(False, 2), (True, 1)])
async def test_each_cited_text_is_judged_alone_unless_as_published(published: bool, asked: int) -> None:
    """Of two ids one is relevant: precision 1/2, F1 2/3. The published form shows both texts at once."""

    def finds_wool(request: ChatRequest) -> ScriptedAnswer:
        shown = request.messages[-1].content.partition("<cited_text>")[2]
        relevance = request.response_schema is not None and request.response_schema.name == "cited_relevance"
        return json.dumps({"result": "yes" if "wool" in shown else "no"}) if relevance else judge(request)

    model = ScriptedModel(finds_wool)
    answer = '<cite id="a,b">Rates on imported wool doubled in 1828</cite>'
    parts = await judge_deeprubric_parts(sample(answer), kit(model), published)
    names = [request.response_schema.name for request in model.requests if request.response_schema]
    assert names.count("cited_relevance") == asked
    form = 0.7 + 0.1 * (0.4 * 0 + 0.4 * 0 + 0.2 * 0) + 0.2 * 2 / 6
    assert parts.citation == pytest.approx(0.6 * (1 if published else 2 / 3) + 0.4 * form)
    assert parts.search == pytest.approx(1 / 6)


async def test_an_empty_answer_asks_nobody_and_earns_no_content() -> None:
    model = ScriptedModel(judge)
    parts = await judge_deeprubric_parts(sample("  "), kit(model))
    assert (parts.rubric, parts.citation) == (0.0, 0.0)
    assert model.requests == []


async def test_a_judge_that_fails_leaves_the_reward_missing() -> None:
    def fails_at_support(request: ChatRequest) -> ScriptedAnswer:
        schema = request.response_schema
        return ModelRefused("quota") if schema and schema.name == "cited_support" else judge(request)

    parts = await judge_deeprubric_parts(sample(REPORT), kit(ScriptedModel(fails_at_support)))
    reward = deeprubric_reward(parts)
    assert isinstance(reward, Missing)
    assert "quota" in reward.reason
    assert isinstance(parts.rubric, float)


async def test_a_rubric_without_weight_has_no_score() -> None:
    found = await judge_rubric_reward("q", "a", [criterion("names wool", 0.0)], kit(ScriptedModel(judge)))
    assert found == Missing("the rubric has no weight")


async def test_a_negative_criterion_of_an_unrevised_rubric_takes_away_and_its_judge_sees_the_evidence() -> None:
    model = ScriptedModel(judge)
    fact = EvidenceCriterion(
        id="R1",
        type=CriterionType.FACTUAL,
        description="names wool",
        weight=0.5,
        source_leaf_ids=("l4",),
        evidence=("It doubled.",),
    )
    found = await judge_rubric_reward("q", "a", [fact, criterion("calls silk a fibre of wool", -0.2)], kit(model))
    assert found == pytest.approx((0.5 - 0.2) / 0.5)
    assert "R1 (factual): names wool\n- It doubled." in model.requests[0].messages[-1].content


class Counting:
    """A judge that counts how many calls are under way."""

    name = "counting"

    def __init__(self) -> None:
        self.now = self.most = 0

    async def complete(self, request: ChatRequest) -> Completion:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.002)
        self.now -= 1
        said = judge(request)
        assert isinstance(said, str)
        return Completion(text=said, model=self.name)


async def test_the_limit_is_shared_by_all_samples_and_kept() -> None:
    counting = Counting()
    one = Kit(counting, {}, BatchRecord(AnswerStore(), 4), PROMPTS, SchemaCodec(), date(2026, 1, 1), lambda: 0.0)
    samples = [sample(f"{REPORT} Version {number} of the text.") for number in range(6)]
    parts = await asyncio.gather(*(judge_deeprubric_parts(s, one) for s in samples))
    assert all(isinstance(part.rubric, float) for part in parts)
    assert counting.most == 4
