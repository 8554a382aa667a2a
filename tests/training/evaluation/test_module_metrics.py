"""Module metrics over trajectories, by hand: what turns and calls count as, and the series of Fig. 9."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.budget import Usage
from app.domain.chat import Completion, ToolCall, ToolResult
from app.domain.missing import Missing
from app.domain.query import Language
from app.domain.trajectory import Trajectory, Turn, TurnKind
from tests.workflows.bench_of_agents import make_kit, new_record, run_chain
from tests.workflows.sensible import sensible
from training.evaluation.efficiency import TOOL_CALL_LIMITS, Attempt, context_of, efficiency, tool_calls_of, under_limits
from training.evaluation.module_metrics import ToolFigures, search_figures
from workflows.chat_models.scripted import ScriptedModel


def said(text: str, agent: str = "search/s1", step: str = "act", tokens: int = 100) -> Turn:
    completion = Completion(text=text, model="m", usage=Usage(model_calls=1, input_tokens=tokens))
    return Turn(agent=agent, ordinal=0, kind=TurnKind.MODEL, step=step, digest="d", completion=completion)


def act(thought: str, action: str, *inputs: str, agent: str = "search/s1") -> Turn:
    return said(json.dumps({"thought": thought, "action": action, "inputs": inputs}), agent)


def used(tool: str, error: str = "") -> Turn:
    call = ToolCall(name=tool, arguments={"query": "q"})
    return Turn(
        agent="search/s1", ordinal=0, kind=TurnKind.TOOL, step=tool, digest="d", call=call, result=ToolResult(error=error)
    )


def trajectory(*turns: Turn) -> Trajectory:
    return Trajectory(episode="e", turns=turns)


def test_figures_by_hand() -> None:
    one = trajectory(
        act("Wait, what is asked?", "search", "wool tariffs in 1828", "cotton exports"),
        used("search"),
        used("search"),
        act("That did not answer it so far; I look again.", "search", "The tariffs on wool, 1828"),
        used("search", "the provider is away"),
        act("All is there.", "finish"),
        said("the report", "report/section/1", "section"),
    )
    two = trajectory(
        act("先找定义。", "search", "羊毛关税"),
        used("search"),
        act("之前的结果有矛盾，需要核实。", "browse", "https://a.example/x"),
        used("browse"),
        act("Another agent begins; wait.", "search", "羊毛关税", agent="search/s2"),
    )
    figures = search_figures([one, two])
    assert (figures.runs, figures.acting_turns, figures.tool_calls) == (2, 3.0, 2.5)
    assert figures.reflection_turns == 1.0, "one a run; first turns look back on nothing"
    assert figures.query_repetition == pytest.approx(2 / 6), "the same words in another order; the same words by another agent"
    assert figures.tools == {"browse": ToolFigures(1, 0.2, 0.0), "search": ToolFigures(4, 0.8, 0.25)}
    assert figures.well_formed == 1.0


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ('{"thought": "t", "action": "search", "inputs": ["a"]}', True),
        ('<think>t</think><tool_call>{"name": "search", "arguments": {"query": "a"}}</tool_call>', True),
        ('Here it is: {"thought": "t", "action": "search", "inputs": ["a"]}', False),
        ('{"thought": "t", "action": "search", "inputs": ["a"],}', False),
        ('<think>t<tool_call>{"name": "search", "arguments": {"query": "a"}}</tool_call>', False),
        ("{}", False),
        ("", False),
    ],
)
def test_form_is_scored_without_repair(text: str, sound: bool) -> None:
    assert search_figures([trajectory(said(text))]).well_formed == float(sound)


def test_what_never_happened_is_missing_and_no_trajectory_is_an_error() -> None:
    figures = search_figures([trajectory()])
    assert isinstance(figures.query_repetition, Missing)
    assert isinstance(figures.well_formed, Missing)
    assert figures.tools == {}
    with pytest.raises(ValueError, match="no trajectory"):
        search_figures([])


async def test_a_real_chain_is_read() -> None:
    record = new_record()
    kit = make_kit(ScriptedModel(sensible), record, language=Language.ENGLISH)
    await run_chain(kit, record, "How did presidents justify tariffs?")
    figures = search_figures([record.trajectory])
    assert figures.tools["search"].calls > 0
    assert figures.acting_turns > 1
    assert figures.well_formed == 1.0
    assert Attempt.of(record.trajectory, True).tool_calls == figures.tool_calls


ATTEMPTS = [Attempt(True, 4, 9_000), Attempt(True, 20, 40_000), Attempt(False, 3, 5_000), Attempt(True, 70, 200_000)]


def test_efficiency_by_hand() -> None:
    found = efficiency(ATTEMPTS)
    assert not isinstance(found.accuracy, Missing)
    assert (found.accuracy.value, found.tool_calls, found.context_tokens, found.attempts) == (0.75, 24.25, 63_500, 4)
    assert found.accuracy.low < 0.75 <= found.accuracy.high
    calls = under_limits(ATTEMPTS, TOOL_CALL_LIMITS, tool_calls_of)
    assert [(at.limit, at.accuracy.value) for at in calls if not isinstance(at.accuracy, Missing)] == [
        (8, 0.25), (16, 0.25), (32, 0.5), (64, 0.5),
    ]  # fmt: skip
    contexts = under_limits(ATTEMPTS, (16_384, 131_072), context_of)
    assert [at.accuracy.value for at in contexts if not isinstance(at.accuracy, Missing)] == [0.25, 0.5]


def test_a_missing_verdict_is_no_wrong_answer() -> None:
    found = efficiency([*ATTEMPTS, Attempt(Missing("the judge was away"), 1, 1)])
    assert found.accuracy == Missing("the judge was away")
    with pytest.raises(ValueError, match="no attempt"):
        efficiency([])


attempts = st.builds(Attempt, st.booleans(), st.integers(0, 80), st.integers(0, 200_000))


@given(st.lists(attempts, min_size=1, max_size=12), st.lists(st.integers(0, 90), min_size=2, max_size=2))
def test_a_larger_limit_never_lowers_accuracy(given_attempts: list[Attempt], limits: list[int]) -> None:
    low, high = under_limits(given_attempts, sorted(limits), tool_calls_of)
    whole = efficiency(given_attempts).accuracy
    assert not any(isinstance(found, Missing) for found in (low.accuracy, high.accuracy, whole))
    assert 0.0 <= low.accuracy.value <= high.accuracy.value <= whole.value <= 1.0  # type: ignore[union-attr]
