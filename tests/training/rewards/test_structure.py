"""Transcripts read strictly, and the rewards that need no judge."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.chat import Completion, ToolCall, ToolResult
from app.domain.trajectory import Trajectory, Turn, TurnKind
from training.rewards.notations import Notation
from training.rewards.structure import format_of, search_reward, step_format_rewards, tool_rewards, violations_reward
from training.rewards.transcript import Transcript, read_step, transcript_of

CITED = '<answer>Tariffs rose. <cite id="a">Rates on wool doubled in 1828</cite></answer>'


def call(query: str, name: str = "search") -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': {'query': query}})}</tool_call>"


def transcript(*outputs: str) -> Transcript:
    return Transcript(tuple(read_step(output) for output in outputs))


def test_the_four_indicators() -> None:
    whole = transcript("<think>look it up</think>" + call("tariffs"), "<think>enough</think>" + CITED)
    assert format_of(whole, {"a"}).reward == pytest.approx(1.0)
    assert format_of(whole, set()).reward == pytest.approx(0.8)  # the id it cites was never retrieved
    assert format_of(transcript(CITED), {"a"}).reward == pytest.approx(0.7)
    assert format_of(transcript("<think>hm</think>"), {"a"}).reward == pytest.approx(0.2)
    assert format_of(transcript(""), {"a"}).reward == 0.0


@pytest.mark.parametrize(
    "output",
    [
        "<answer></answer>",
        "<answer> \n </answer>",
        "<answer>never closed",
        "<think><answer>a report hidden in a thought</answer></think>",
        "<answer>one</answer><answer>two</answer>",
        "a report without any tag",
        "</answer>turned round<answer>",
    ],
)
def test_what_is_no_answer_earns_no_answer(output: str) -> None:
    read = transcript("<think>t</think>" + call("x"), output)
    assert read.answer == ""
    assert not format_of(read, {"a"}).answer


def test_an_answer_before_the_last_step_is_none() -> None:
    assert transcript(CITED, "<think>and now</think>" + call("x")).answer == ""


def test_text_of_thoughts_and_tools_is_never_the_report() -> None:
    read = transcript(
        '<think><cite id="a">a fine claim that only was thought</cite></think>' + call('<cite id="a">x</cite>'),
        "<answer>Nothing was found.</answer>",
    )
    assert read.answer == "Nothing was found."
    assert not format_of(read, {"a"}).cites


@pytest.mark.parametrize(
    "said",
    [
        "not json",
        "[1]",
        '{"name": "shell", "arguments": {"query": "x"}}',
        '{"name": "search"}',
        '{"name": "search", "arguments": {}}',
        '{"name": "search", "arguments": {"query": "  "}}',
        '{"name": "search", "arguments": {"query": []}}',
        '{"name": "search", "arguments": {"query": ["wool", " "]}}',
        '{"name": "search", "arguments": {"query": ["wool", 1828]}}',
        '{"name": "search", "arguments": {"query": [["wool"]]}}',
        '{"name": "search", "arguments": {"query": ["wool"], "sites": ["a.org"]}}',
    ],
)
def test_a_call_that_cannot_be_made_is_a_failed_one(said: str) -> None:
    step = read_step(f"<tool_call>{said}</tool_call>")
    assert (step.calls, step.failed_calls, step.well_formed, step.tool_succeeded) == ((), 1, False, False)


def test_each_query_of_a_list_is_a_call() -> None:
    """The form that the agents' own prompt asks for."""
    said = '{"name": "search", "arguments": {"query": ["wool", "cotton", "silk"]}}'
    step = read_step(f"<think>t</think><tool_call>{said}</tool_call>")
    assert [call.arguments["query"] for call in step.calls] == ["wool", "cotton", "silk"]
    assert (step.failed_calls, step.well_formed, step.tool_succeeded) == (0, True, True)
    assert search_reward(Transcript((step,))) == 0.5


def test_searches_saturate_and_repeats_do_not_count() -> None:
    assert search_reward(transcript(*(call(f"q{i}") for i in range(3)))) == 0.5
    assert search_reward(transcript(*(call(f"q{i}") for i in range(60)))) == 1.0
    assert search_reward(transcript(*(call("  same  query") for _ in range(60)))) == pytest.approx(1 / 6)
    assert search_reward(transcript()) == 0.0


def test_tool_rewards_by_hand() -> None:
    good, bad, silent = call("x"), "<tool_call>broken</tool_call>", "<think>t</think>"
    steps = transcript(bad, good, bad, silent, bad, bad, call("y")).steps
    assert tool_rewards(steps) == [-0.1, 0.1, -0.1, 0.0, -0.2, -0.2, 0.1]


def test_a_tool_that_reported_an_error_failed() -> None:
    assert tool_rewards([read_step(call("x"), errors=1)]) == [-0.1]


def test_step_formats_by_hand() -> None:
    outputs = [
        "<think>t</think>" + call("x"),
        "<think>t</think>" + CITED,
        "<think>only a thought</think>",
        "chatter " + call("x"),
        call("x") + "<tool_call>broken</tool_call>",
        call("x") + CITED,
        "<think>open",
        "",
    ]
    assert step_format_rewards(transcript(*outputs).steps) == [0.1, 0.1, *[-0.2] * 6]


def test_violations() -> None:
    assert violations_reward(False, False, False) == 0
    assert violations_reward(True, False, True) == -2
    assert violations_reward(True, True, True) == -3


def test_a_stored_trajectory_is_read_step_by_step() -> None:
    def model(ordinal: int, text: str, agent: str = "search/s1") -> Turn:
        return Turn(
            agent=agent, ordinal=ordinal, kind=TurnKind.MODEL, step="act", digest="d", completion=Completion(text=text, model="m")
        )

    tool = Turn(
        agent="search/s1", ordinal=1, kind=TurnKind.TOOL, step="search", digest="d",
        call=ToolCall(name="search", arguments={"query": "x"}), result=ToolResult(error="the index is away"),
    )  # fmt: skip
    stored = Trajectory(
        episode="e", turns=(model(0, call("x")), tool, model(0, CITED, "search/s2"), model(2, "<answer>done</answer>"))
    )
    read = transcript_of(stored, "search/s1")
    assert len(read.steps) == 2
    assert read.steps[0].failed_calls == 1
    assert read.answer == "done"


tagged = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "<answer>", "</answer>", "<tool_call>", "</tool_call>", "x", call("y"), '<cite id="a">z</cite>']
    ),
    max_size=12,
).map("".join)


@given(st.lists(tagged, max_size=5))
def test_bounds_whatever_is_sampled(outputs: list[str]) -> None:
    read = transcript(*outputs)
    assert 0.0 <= format_of(read, {"a"}).reward <= 1.0
    assert 0.0 <= search_reward(read) <= 1.0
    assert all(-0.2 <= value <= 0.1 for value in (*tool_rewards(read.steps), *step_format_rewards(read.steps)))


@pytest.mark.parametrize(
    ("said", "step", "calls", "failed", "well_formed"),
    [
        ('{"thought": "t", "action": "search", "inputs": ["wool", "silk"]}', "act", 2, 0, True),
        ('{"plan": "", "thought": "t", "action": "browse", "inputs": ["https://a.org"]}', "markov_search", 1, 0, True),
        ('{"thought": "t", "action": "finish", "inputs": []}', "act", 0, 0, True),
        ('{"thought": "t", "action": "search", "inputs": []}', "act", 0, 1, False),
        ('{"thought": "t", "action": "search", "inputs": ["wool", 3]}', "act", 0, 1, False),
        ('{"thought": "t", "action": ["search"], "inputs": ["wool"]}', "act", 0, 1, False),
        ('{"thought": "t", "action": "search", "inputs": "wool"}', "act", 0, 1, False),
        ('{"thought": "t", "action": "search", "inputs": ["wool"], "extra": 1}', "act", 0, 1, False),
        ('["search"]', "act", 0, 0, False),
        ("wool", "act", 0, 0, False),
        ('{"answer": "x"}', "finding", 0, 0, True),
        ("x", "finding", 0, 0, False),
        ("x", "react_report", 0, 0, True),
        (" ", "react_report", 0, 0, False),
    ],
)
def test_outputs_by_a_schema(said: str, step: str, calls: int, failed: int, well_formed: bool) -> None:
    turn = Turn(agent="a", ordinal=0, kind=TurnKind.MODEL, step=step, digest="d", completion=Completion(text=said, model="m"))
    read = transcript_of(Trajectory(episode="e", turns=(turn,)), "a", notation=Notation.SCHEMA).steps[0]
    assert (len(read.calls), read.failed_calls, read.well_formed) == (calls, failed, well_formed)
