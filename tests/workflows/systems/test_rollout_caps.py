"""Rollouts in tags: one conversation whose answer is the report, caps that say so, and faults that get an observation."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from app.domain.budget import AgentLimits, StopReason, Usage
from app.domain.chat import ChatRequest, ChatRole, Completion
from app.domain.evidence import Finding
from app.domain.query import Language, ResearchQuery, SystemName
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.systems.one_question import QUESTION, prompt_of
from workflows.agents.codec import TagCodec
from workflows.agents.rollout_caps import RolloutCaps
from workflows.agents.simple_plan import make_single_plan
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.agent_sets import AGENTS

SEARCH = '<think>t</think><tool_call>{"name": "search", "arguments": {"query": "tariff %d"}}</tool_call>'
REPORT = '# Tariffs\n\n## Reasons\n\n<cite id="p1">The tariff was to bring revenue.</cite>'
ANSWER = f"<think>enough</think><answer>{REPORT}</answer>"
QSR = RolloutCaps(turns=10, calls_per_turn=5, observation_tokens=24_000, conversation_tokens=65_536)
DRUB = RolloutCaps(turns=20, calls_per_turn=5, observation_tokens=4_096, action_tokens=2_048, conversation_tokens=28_288)
"""The caps of QSR D, Table 4, and of DRub Table 5."""
NOT_JSON = "<think>t</think><tool_call>search for tariffs, please</tool_call>"
Script = Callable[[ChatRequest], ScriptedAnswer]


async def search(
    system: SystemName, script: Script | Iterable[ScriptedAnswer], caps: RolloutCaps | None = None, *, whole: bool = False
) -> tuple[Finding, ScriptedModel]:
    model = ScriptedModel(script)
    kit = replace(make_kit(model, make_record(), limits=AgentLimits(max_turns=6)), codec=TagCodec())
    query = ResearchQuery(question=QUESTION, system=system, one_conversation=whole)
    plan = make_single_plan(query)
    return await AGENTS[system].search(plan.subtasks[0], plan, query, caps.cap(kit) if caps else kit), model


async def test_the_answer_that_ends_the_search_is_the_report() -> None:
    found, model = await search(SystemName.DEEPRUBRIC, [SEARCH % 1, ANSWER], whole=True)
    assert found.stop is StopReason.SUFFICIENT
    assert found.answer.startswith("# Tariffs\n\n## Reasons\n\nThe tariff was to bring revenue.")
    assert len(found.quotes) == 1
    assert len(model.requests) == 2, "no second question"
    assert "<answer># Title, then the report</answer>" in prompt_of(model.requests[0])
    first, last = (request.messages for request in model.requests)
    assert last[: len(first)] == first
    assert last[len(first)].content == SEARCH % 1, "the turn as sampled"


async def test_without_the_option_a_second_question_asks_for_the_report() -> None:
    found, model = await search(SystemName.DEEPRUBRIC, [SEARCH % 1, "<answer>done</answer>", ANSWER])
    assert "The search is over" in prompt_of(model.requests[-1])
    assert found.answer.startswith("# Tariffs")


async def test_one_conversation_that_reaches_its_turns_is_asked_in_it_and_never_called_finished() -> None:
    caps = RolloutCaps(turns=2, calls_per_turn=5, observation_tokens=1_000)
    found, model = await search(SystemName.DEEPRUBRIC, [SEARCH % 1, SEARCH % 2, ANSWER], caps, whole=True)
    assert found.stop is StopReason.MAX_TURNS
    assert found.answer.startswith("# Tariffs")
    assert model.requests[2].messages[: len(model.requests[1].messages)] == model.requests[1].messages


@pytest.mark.parametrize("whole", [True, False])
async def test_a_conversation_ends_at_its_tokens_and_no_request_has_room_beyond_them(whole: bool) -> None:
    caps = RolloutCaps(turns=20, calls_per_turn=5, observation_tokens=300, conversation_tokens=1_500)
    number = iter(range(99))

    def script(request: ChatRequest) -> ScriptedAnswer:
        return ANSWER if "The search is over" in prompt_of(request) else SEARCH % next(number)

    found, model = await search(SystemName.DEEPRUBRIC, script, caps, whole=whole)
    assert found.stop is StopReason.MAX_TOKENS
    acts = [request for request in model.requests if "The search is over" not in prompt_of(request)]
    assert 2 < len(acts) < 20
    assert all(request.max_tokens <= 1_500 for request in acts)
    assert acts[-1].max_tokens < acts[0].max_tokens
    assert not any("removed for length" in prompt_of(request) for request in acts)
    assert (len(acts) == len(model.requests)) is whole, "one conversation ends at its limit; the other asks for a report"


async def test_a_tool_call_longer_than_an_action_may_be_is_not_made() -> None:
    long = Completion(text=SEARCH % 1, model="m", usage=Usage(model_calls=1, input_tokens=900, output_tokens=2_049))
    found, model = await search(SystemName.DEEPRUBRIC, [long, SEARCH % 2, ANSWER], DRUB, whole=True)
    assert "longer than 2048 tokens" in model.requests[1].messages[-1].content
    assert found.turns == 3
    assert found.answer.startswith("# Tariffs")


@pytest.mark.parametrize("system", list(SystemName))
@pytest.mark.parametrize("bad", [NOT_JSON, "", "I would rather talk."])
async def test_a_malformed_call_gets_an_error_observation_and_costs_a_turn(system: SystemName, bad: str) -> None:
    left = iter([bad, SEARCH % 1, bad])

    def script(request: ChatRequest) -> ScriptedAnswer:
        prompt = prompt_of(request)
        acting = "<tool_call>" in prompt and "The search is over" not in prompt and "quotes" not in request.messages[-1].content
        return next(left, "<answer>done</answer>") if acting else _write(prompt)

    found, model = await search(system, script, QSR)
    acts = [r for r in model.requests if '{"name": "search"' in prompt_of(r)]
    assert any("This action could not be used" in prompt_of(request) for request in acts)
    assert found.turns == 4
    assert found.stop is StopReason.SUFFICIENT
    assert found.quotes
    if system is not SystemName.MAMS:
        texts = [m.content for m in acts[1].messages]
        assert texts[-2] == (bad or " "), "the turn as sampled stays in the conversation"
        assert acts[1].messages[-1].role is ChatRole.USER


def _write(prompt: str) -> str:
    """Anything that is no action: digests, finding, state and report."""
    if "The search is over" in prompt and "cite id" in prompt:
        return ANSWER
    if "Markdown text" in prompt:
        return "<answer># Tariffs\n\nThe tariff was to bring revenue [p1].</answer>"
    told = {"memory": ["Revenue [p1]"], "plan": "- [x] done", "quotes": [], "answer": "Revenue [p1]."}
    return f"<answer>{json.dumps(told)}</answer>"


@pytest.mark.parametrize("system", list(SystemName))
async def test_a_policy_that_never_finishes_is_capped_by_its_turns(system: SystemName) -> None:
    number = iter(range(999))

    def script(request: ChatRequest) -> ScriptedAnswer:
        prompt = prompt_of(request)
        acting = '{"name": "search"' in prompt and "The search is over" not in prompt
        return SEARCH % next(number) if acting and "quotes" not in request.messages[-1].content else _write(prompt)

    found, _ = await search(system, script, replace(QSR, turns=3))
    assert (found.stop, found.turns) == (StopReason.MAX_TURNS, 3)


def test_caps_are_set_on_a_kit() -> None:
    kit = make_kit(ScriptedModel([]), make_record())
    qsr, drub = QSR.cap(kit), DRUB.cap(replace(kit, language=Language.CHINESE))
    assert (qsr.limits.max_turns, qsr.limits.max_tool_calls, qsr.bounds.calls_per_turn) == (10, 50, 5)
    assert qsr.bounds.observation_chars == 96_000
    assert qsr.bounds.chunk_chars == drub.bounds.chunk_chars == kit.bounds.chunk_chars, "MaMs reads the chunks of serving"
    assert (drub.limits.max_turns, drub.limits.max_conversation_tokens, drub.bounds.action_tokens) == (20, 28_288, 2_048)
    assert drub.bounds.observation_chars == 6_144
