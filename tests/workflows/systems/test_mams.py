"""MaMs' own way: three roles, moves, and turns that end."""

import json
import random
import re

from app.domain.budget import AgentLimits, StopReason
from app.domain.chat import ChatRequest
from app.domain.query import Effort, Language, ResearchQuery, SystemName
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.systems.one_question import (
    ALONE,
    QUESTION,
    answer_soundly,
    list_searches,
    prompt_of,
    run_system,
)
from workflows.agents.codec import TagCodec
from workflows.agents.effort import limits_of
from workflows.agents.kit import Bounds
from workflows.agents.markov import MARKOV
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering


def never_done(request: ChatRequest) -> ScriptedAnswer:
    """Searches for more whenever it is asked what to do."""
    if step_of(request) == "markov_search":
        return json.dumps({"plan": "- [ ] more", "thought": "", "action": "search", "inputs": [f"tariff {random.random()}"]})
    return answer_soundly(request)


async def test_the_last_turn_is_forced_when_turns_are_used_up() -> None:
    report, _, model = await run_system(SystemName.MAMS, never_done, limits=AgentLimits(max_turns=2))
    assert [step_of(r) for r in model.requests].count("markov_search") == 2
    assert step_of(model.requests[-1]) == "markov_last"
    assert report.quotes


async def test_a_budget_that_ends_before_the_last_turn_leaves_a_report() -> None:
    record = LocalRecord("test", allow=lambda _, usage: StopReason.BUDGET if usage.model_calls >= 3 else None)
    report, _, model = await run_system(SystemName.MAMS, never_done, record, AgentLimits(max_turns=1))
    assert [step_of(r) for r in model.requests] == ["markov_search", "markov_state", "text"]
    assert report.title == "Tariffs"
    assert report.quotes


async def test_roles_are_told_the_calls_left_and_the_length_of_the_report() -> None:
    _, _, model = await run_system(SystemName.MAMS, never_done, limits=AgentLimits(max_turns=9, max_tool_calls=3))
    moves = [prompt_of(r) for r in model.requests if step_of(r) == "markov_search"]
    assert [re.findall(r"(\S+) tool calls are left", move) for move in moves] == [["3"], ["2"], ["1"]]
    writers = [prompt_of(r) for r in model.requests if r.response_schema is None]
    assert all(f"about {Bounds().sections * Bounds().section_words} words" in writer for writer in writers)


def test_systems_that_work_the_whole_question_have_equal_limits_of_their_own() -> None:
    limits = [limits_of(ResearchQuery(question="x?", system=system, effort=Effort.QUICK)) for system in ALONE]
    assert {(one.max_turns, one.max_tool_calls) for one in limits} == {(10, 50)}
    assert limits_of(ResearchQuery(question="x?", effort=Effort.QUICK)).max_turns == 4


async def test_in_tags_the_plan_has_a_place() -> None:
    said = iter(
        [
            "<think>t</think><plan>- [ ] revenue</plan>"
            '<tool_call>{"name": "search", "arguments": {"query": "tariff"}}</tool_call>',
            "<think>t</think><plan>- [x] revenue</plan><answer>done</answer>",
        ]
    )

    def in_tags(request: ChatRequest) -> ScriptedAnswer:
        prompt = prompt_of(request)
        if "You lead a research step by step" in prompt:
            assert "inside <plan> and </plan>" in prompt
            return next(said)
        if "<answer>: one JSON object" in prompt or "one JSON object with exactly these fields" in prompt:
            return '<think>t</think><answer>{"memory": ["Fact [p1]"], "plan": ""}</answer>'
        return "<answer># Tariffs\n\nRevenue [p1].</answer>"

    model, record = ScriptedModel(in_tags), make_record()
    query = ResearchQuery(question=QUESTION, system=SystemName.MAMS)
    kit = make_kit(model, record, codec=TagCodec())
    report = await research(query, LocalStages(MARKOV, kit, record, query), PlanSteering())
    moves = [prompt_of(r) for r in model.requests if "You lead a research step by step" in prompt_of(r)]
    assert "- [ ] revenue" in moves[1]
    assert report.quotes


async def test_a_search_that_is_repeated_is_sampled_anew_and_then_ended() -> None:
    def stuck(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) == "markov_search":
            return json.dumps({"plan": "- [ ] more", "thought": "", "action": "search", "inputs": ["tariff revenue"]})
        return answer_soundly(request)

    report, record, model = await run_system(SystemName.MAMS, stuck, limits=AgentLimits(max_turns=10))
    moves = [r.temperature > 0 for r in model.requests if step_of(r) == "markov_search"]
    assert moves == [False, False, False, True]
    assert len(list_searches(record)) == 1
    assert report.quotes


async def test_a_search_that_was_sampled_anew_may_go_on_as_before() -> None:
    wanted = iter(["tariff revenue"] * 3 + ["duties on wool", "iron", "ships"])

    def wavering(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) == "markov_search" and (query := next(wanted, "")):
            return json.dumps({"plan": "- [ ] more", "thought": "", "action": "search", "inputs": [query]})
        return answer_soundly(request)

    told: list[str] = []
    record = LocalRecord("test", watch=lambda _, __, payload: told.append(str(payload.get("message", ""))))
    _, _, model = await run_system(SystemName.MAMS, wavering, record, AgentLimits(max_turns=6))
    moves = [r for r in model.requests if step_of(r) == "markov_search"]
    assert [r.temperature > 0 for r in moves] == [False, False, False, True, False, False]
    assert prompt_of(moves[3]) == prompt_of(moves[2]), "the repetition was not taken back"
    assert sum("sampled anew" in message for message in told) == 1


async def test_a_move_in_tags_is_a_plan_and_an_action() -> None:
    def tagged(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) != "markov_search":
            return answer_soundly(request)
        if "[p1]" in prompt_of(request):
            return "<answer>done</answer>"
        call = {"name": "search", "arguments": {"query": ["tariff revenue", "tariff protection"]}}
        return f"<plan>- [ ] the reasons</plan><tool_call>{json.dumps(call)}</tool_call>"

    report, record, model = await run_system(SystemName.MAMS, tagged)
    assert report.quotes
    assert list_searches(record) == ["tariff revenue", "tariff protection"]
    state = next(r for r in model.requests if step_of(r) == "markov_state")
    assert "- [ ] the reasons" in prompt_of(state)
    assert "<plan>\n- [ ] the reasons\n</plan>" in prompt_of(state), "the tags of the answer are no part of the plan"


async def test_what_an_action_owes_is_told_with_the_next_question() -> None:
    def stubborn(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) == "markov_search":
            return json.dumps({"plan": "", "thought": "", "action": "search", "inputs": ["tariff revenue"]})
        return answer_soundly(request)

    _, _, model = await run_system(SystemName.MAMS, stubborn, limits=AgentLimits(max_turns=3))
    moves = [prompt_of(r) for r in model.requests if step_of(r) == "markov_search"]
    assert ["You already asked this" in move for move in moves] == [False, False, True]


async def test_time_is_counted_from_the_beginning() -> None:
    now = [1_000.0]

    def slow(request: ChatRequest) -> ScriptedAnswer:
        now[0] += 10
        return never_done(request)

    record = LocalRecord("test", clock=lambda: now[0])
    report, _, model = await run_system(SystemName.MAMS, slow, record, AgentLimits(max_seconds=45))
    assert [step_of(r) for r in model.requests].count("markov_search") == 3, (
        "30 s for the first turn, 10 s for one that finds nothing new"
    )
    assert step_of(model.requests[-1]) == "markov_last"
    assert report.quotes


async def test_chinese_runs_are_asked_in_chinese() -> None:
    _, _, model = await run_system(SystemName.MAMS, language=Language.CHINESE)
    assert "记忆" in prompt_of(model.requests[0])


async def test_each_role_is_an_agent_of_its_own_on_the_record() -> None:
    _, record, _ = await run_system(SystemName.MAMS)
    assert {turn.agent for turn in record.trajectory.turns} == {"search/s1", "search/s1/state", "search/s1/report"}
