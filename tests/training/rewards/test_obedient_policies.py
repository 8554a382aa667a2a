"""Each system, asked in tags: a policy that writes just what the prompts ask for gets full marks."""

import json

import pytest

from app.domain.chat import ChatRequest
from app.domain.query import ResearchQuery, SystemName
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.agents.scripted_search import SUBTASK, search_subtask
from tests.workflows.sensible_model import answer_finding
from tests.workflows.systems.one_question import ALONE, IDS, QUESTION, prompt_of
from training.rewards.structure import format_of, search_reward, step_format_rewards, tool_rewards
from training.rewards.transcript import Transcript, transcript_of
from workflows.agents.codec import TagCodec
from workflows.agents.stage_memory import path_of_search
from workflows.chat_models.scripted import ScriptedModel
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local import LocalStages
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering

CALL = {"name": "search", "arguments": {"query": ["tariff revenue", "tariff protection"]}}
REPORT = "# Tariffs\n\n## Reasons\n\nThe tariff was to bring revenue [p1]."
SPANS = '# Tariffs\n\n<cite id="p1">The tariff was to bring revenue.</cite>'


def obey(request: ChatRequest) -> str:
    """Search for two things at once, then finish, in the form that the prompt asks for."""
    prompt = prompt_of(request)
    asked = next(message.content for message in reversed(request.messages) if "First think inside" in message.content)
    if "the Markdown text, and only it" in asked:
        answer = SPANS if "cite id" in asked else REPORT
    elif "one JSON object with exactly these fields" in asked:
        fields = {"memory": ["Revenue [p1]"], "plan": "- [x] reasons"} if '"memory"' in asked else answer_finding(prompt, request)
        answer = json.dumps(fields)
    else:
        return f"<think>t</think>{act(prompt)}"
    return f"<think>t</think><answer>{answer}</answer>"


def act(prompt: str) -> str:
    plan = "<plan>- [ ] reasons</plan>" if "inside <plan>" in prompt else ""
    searched = bool(IDS.search(prompt)) or "[p1]" in prompt
    return plan + ("<answer>It was for revenue.</answer>" if searched else f"<tool_call>{json.dumps(CALL)}</tool_call>")


def assert_full_marks(transcript: Transcript) -> None:
    assert step_format_rewards(transcript.steps) == [0.1] * len(transcript.steps)
    assert tool_rewards(transcript.steps) == [0.1, *[0.0] * (len(transcript.steps) - 1)]
    assert search_reward(transcript) == pytest.approx(2 / 6)
    read = format_of(transcript, {"p1"})
    assert (read.answer, read.tool, read.think) == (True, True, True)


async def test_the_search_agent_of_minddr() -> None:
    record = make_record()
    await search_subtask(ScriptedModel(obey), record=record, codec=TagCodec())
    assert_full_marks(transcript_of(record.trajectory, path_of_search(SUBTASK.id)))


@pytest.mark.parametrize("system", ALONE)
async def test_a_system_that_works_the_whole_question(system: SystemName) -> None:
    record = make_record()
    kit = make_kit(ScriptedModel(obey), record, codec=TagCodec())
    query = ResearchQuery(question=QUESTION, system=system)
    report = await research(query, LocalStages(AGENTS[system], kit, record, query), PlanSteering())
    assert report.quotes
    assert_full_marks(transcript_of(record.trajectory, path_of_search("s1")))
