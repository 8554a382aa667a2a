"""Module metrics over trajectories, by hand: what turns and calls count as, and the series of Fig. 9."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.budget import Usage
from app.domain.chat import Completion, ToolCall, ToolResult
from app.domain.missing import Missing
from app.domain.query import Language
from app.domain.trajectory import Trajectory, Turn, TurnKind
from tests.workflows.agent_kit import make_kit, make_record, run_chain
from tests.workflows.sensible_model import answer_sensibly
from training.evaluation.efficiency import TOOL_CALL_LIMITS, MeasuredAttempt, accuracy_under_limits, context_of, tool_calls_of
from training.evaluation.harness.example import BenchmarkAnswer
from training.evaluation.harness.module_counts import count_item, module_figures_of
from training.evaluation.harness.scores import ItemScores
from training.rewards.score import Score
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


def figures_of(*trajectories: Trajectory) -> dict[str, Score]:
    """The figures of a system with these trajectories and no texts."""
    counts = [count_item(BenchmarkAnswer(item="1"), t.turns, Language.ENGLISH, date(2026, 3, 1)) for t in trajectories]
    scores = [ItemScores(item=str(n), values=values) for n, values in enumerate(counts)]
    return {name: figure.compute(scores) for name, figure in module_figures_of(scores).items()}


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
    assert figures_of(one, two) == pytest.approx(
        {
            "turns": 3.0,
            "tool_calls": 2.5,
            "longest_context": 100.0,
            "reflection_turns": 1.0,  # one a run; first turns look back on nothing
            "query_repetition": 2 / 6,  # the same words in another order; the same words by another agent
            "tag_format": 1.0,
            "tool_reward": (0.1 - 0.1 + 0.0 + 0.1 + 0.1 - 0.1) / 6,  # a failure; an end; a call that nobody answered
            "form_reward": 0.1,
            "search_reward": (2 / 6 + (2 / 6 + 0.0) / 2) / 2,  # two different searches each; the second run's other agent none
            "browse: share of calls": 0.2,
            "browse: failure rate": 0.0,
            "search: share of calls": 0.8,
            "search: failure rate": 0.25,
        }
    )


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
    assert figures_of(trajectory(said(text)))["tag_format"] == float(sound)


def test_what_never_happened_is_missing() -> None:
    figures = figures_of(trajectory(said("the report", "report/section/1", "section")))
    assert isinstance(figures["query_repetition"], Missing)
    assert isinstance(figures["tag_format"], Missing)
    assert figures_of(trajectory()) == {}


async def test_a_real_chain_is_read() -> None:
    record = make_record()
    kit = make_kit(ScriptedModel(answer_sensibly), record, language=Language.ENGLISH)
    await run_chain(kit, record, "How did presidents justify tariffs?")
    figures = figures_of(record.trajectory)
    assert figures["search: share of calls"] > 0
    assert figures["turns"] > 1
    assert figures["tag_format"] == 1.0
    assert MeasuredAttempt.of(record.trajectory, True).tool_calls == figures["tool_calls"] > 0


ATTEMPTS = [
    MeasuredAttempt(True, 4, 9_000),
    MeasuredAttempt(True, 20, 40_000),
    MeasuredAttempt(False, 3, 5_000),
    MeasuredAttempt(True, 70, 200_000),
]


def test_limits_by_hand() -> None:
    calls = accuracy_under_limits(ATTEMPTS, TOOL_CALL_LIMITS, tool_calls_of)
    assert [(at.limit, at.accuracy.value) for at in calls if not isinstance(at.accuracy, Missing)] == [
        (8, 0.25), (16, 0.25), (32, 0.5), (64, 0.5),
    ]  # fmt: skip
    contexts = accuracy_under_limits(ATTEMPTS, (16_384, 131_072), context_of)
    assert [at.accuracy.value for at in contexts if not isinstance(at.accuracy, Missing)] == [0.25, 0.5]


def test_a_missing_verdict_is_no_wrong_answer() -> None:
    unjudged = MeasuredAttempt(Missing("the judge was away"), 1, 1)
    (at,) = accuracy_under_limits([*ATTEMPTS, unjudged], [8], tool_calls_of)
    assert at.accuracy == Missing("the judge was away")


attempts = st.builds(MeasuredAttempt, st.booleans(), st.integers(0, 80), st.integers(0, 200_000))


@given(st.lists(attempts, min_size=1, max_size=12), st.lists(st.integers(0, 90), min_size=2, max_size=2))
def test_a_larger_limit_never_lowers_accuracy(given_attempts: list[MeasuredAttempt], limits: list[int]) -> None:
    low, high = accuracy_under_limits(given_attempts, sorted(limits), tool_calls_of)
    assert not isinstance(low.accuracy, Missing)
    assert not isinstance(high.accuracy, Missing)
    right = sum(attempt.correct is True for attempt in given_attempts) / len(given_attempts)
    assert 0.0 <= low.accuracy.value <= high.accuracy.value <= right + 1e-12
