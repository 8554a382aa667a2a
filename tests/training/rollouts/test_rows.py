"""Rows hold every sampled id exactly once, whatever the policy says and however the agents ask."""

import random
from collections.abc import Awaitable, Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.budget import AgentLimits, StopReason
from app.domain.chat import ChatRequest, ChatRole, Completion, Message, SampledTokens
from app.domain.errors import ModelRefused
from app.domain.evidence import Finding
from app.domain.query import SystemName
from app.domain.trajectory import Trajectory, Turn, TurnKind
from tests.support.byte_tokenizer import END_OF_TURN, PIECES, SPECIAL, ByteTokenizer
from tests.support.row_checks import count_row_faults
from tests.support.row_rollouts import run_as_served, run_as_trained
from tests.support.scripted_engine import ScriptedEngine
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.agents.scripted_search import PLAN, QUERY, SUBTASK
from training.rollouts.chat_template import ChatTemplate
from training.rollouts.engine import SamplingSettings
from training.rollouts.nouns import TrainingRow
from training.rollouts.rows import BrokenChain, make_rows
from training.rollouts.sampler import Sampler
from workflows.agents.codec import TagCodec
from workflows.agents.deep_search import search_deeply
from workflows.agents.kit import Bounds
from workflows.chat_models.scripted import ScriptedModel
from workflows.systems.local_record import LocalRecord

TOKENIZER = ByteTokenizer()
TEMPLATE = ChatTemplate(TOKENIZER)
SETTINGS = SamplingSettings(stop_ids=(END_OF_TURN,), most_tokens=400)
SEARCH = '<think>t</think><tool_call>{"name": "search", "arguments": {"query": ["%s"]}}</tool_call>'
DONE = '<think>w</think><answer>{"quotes": [], "answer": "It was [p1].", "gaps": []}</answer>'
UNBOUND = Bounds(shorten_conversations=False)


def ids_of(text: str, spelt: bool = False) -> list[int]:
    """Return a text's ids, or its bytes."""
    plain = TOKENIZER.encode(text, add_special_tokens=False, split_special_tokens=False)
    return list(text.encode()) if spelt else plain


answers = st.one_of(
    st.sampled_from([SEARCH % "tariff revenue", SEARCH % "duties", SEARCH % "", DONE, "<answer>x</answer>", "", " ", "<think>"]),
    st.text(max_size=60),
    st.lists(st.sampled_from([*PIECES, *SPECIAL, "\n", "tariff"]), max_size=8).map("".join),
)
said = st.lists(st.tuples(answers, st.booleans(), st.booleans()), min_size=1, max_size=10)


def write_ids(script: Sequence[tuple[str, bool, bool]]) -> list[list[int]]:
    return [ids_of(text, spelt) + [END_OF_TURN] * ended for text, spelt, ended in script]


def make_policy(script: Sequence[list[int]]) -> ScriptedEngine:
    """Make an engine that says what stands in the script, and its last line again and again."""
    left = list(script)
    return ScriptedEngine(TOKENIZER, lambda _: left.pop(0) if len(left) > 1 else left[0])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(said, st.sampled_from(list(SystemName)), st.integers(3_000, 12_000), st.sampled_from([run_as_served, run_as_trained]))
async def test_whatever_the_policy_says_each_sampled_id_is_in_one_row(
    script: list[tuple[str, bool, bool]],
    system: SystemName,
    context: int,
    run: Callable[[SystemName, Sampler], Awaitable[Trajectory]],
) -> None:
    engine = make_policy(write_ids(script))
    trajectory = await run(system, Sampler(engine, TEMPLATE, SETTINGS, context))
    assert count_row_faults(make_rows(trajectory), engine.calls, trajectory) == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
async def test_in_any_tree_of_conversations_each_sampled_id_is_in_one_row(seed: int) -> None:
    """Agents ask from any point of any conversation, changed or not, several times."""
    chance = random.Random(seed)
    engine = ScriptedEngine(TOKENIZER, lambda _: [*chance.choices(range(265), k=chance.randrange(4)), END_OF_TURN], seed)
    sampler, record = Sampler(engine, TEMPLATE, SETTINGS, 5_000), LocalRecord("t")
    asked: list[tuple[Message, ...]] = [(Message(role=ChatRole.USER, content="why"),)]
    for _ in range(12):
        messages = chance.choice(asked)
        completion = await record.ask("a", "act", sampler, ChatRequest(messages=messages))
        shown = completion.text if chance.random() < 0.8 else completion.text + "!"
        further = Message(role=ChatRole.USER, content=chance.choice(("seen", "again<|im_end|>")))
        asked.append((*messages, Message(role=ChatRole.ASSISTANT, content=shown), further))
    assert count_row_faults(make_rows(record.trajectory), engine.calls, record.trajectory) == 0


async def search(script: Sequence[str], context: int = 30_000, **more: object) -> tuple[Finding, LocalRecord, list[TrainingRow]]:
    engine, record = make_policy([[*ids_of(text), END_OF_TURN] for text in script]), make_record()
    bounds = more.pop("bounds", UNBOUND)
    kit = make_kit(Sampler(engine, TEMPLATE, SETTINGS, context), record, codec=TagCodec(), bounds=bounds, **more)  # type: ignore[arg-type]
    found = await search_deeply(SUBTASK, PLAN, QUERY, kit)
    rows = list(make_rows(record.trajectory))
    assert count_row_faults(rows, engine.calls, record.trajectory) == 0
    return found, record, rows


def texts_of(row: TrainingRow) -> list[str]:
    """What the policy said in a row, turn by turn."""
    turns = dict.fromkeys(t for t in row.turns if t >= 0)
    ids = [[i for i, t in zip(row.ids, row.turns, strict=True) if t == turn] for turn in turns]
    return [TOKENIZER.decode(one, skip_special_tokens=True) for one in ids]


async def test_a_search_is_one_row_and_the_closing_question_another() -> None:
    first, second, stop = SEARCH % "tariff", SEARCH % "revenue", "<think>e</think><answer>enough</answer>"
    _, record, rows = await search([first, second, stop, DONE])
    assert [texts_of(row) for row in rows] == [[first, second, stop], [DONE]]
    assert {row.agent for row in rows} == {"search/s1"}
    assert [record.trajectory.turns[t].step for t in sorted({*rows[0].turns} - {-1})] == ["act", "act", "act"]
    assert rows[1].ids[: len(rows[0].ids)].count(END_OF_TURN) > 4, "the closing question shows the search as an observation"


async def test_a_repaired_answer_and_what_follows_it_are_rows_of_their_own() -> None:
    broken, good, stop = "I would rather not.", SEARCH % "tariff", "<think>e</think><answer>enough</answer>"
    _, _, rows = await search([broken, good, stop, DONE])
    assert [texts_of(row) for row in rows] == [[broken, good], [stop], [DONE]]


async def test_a_shortened_conversation_begins_anew_and_in_training_none_is_shortened() -> None:
    acts = [SEARCH % f"tariff {n}" for n in range(6)]
    script, limits = [*acts, "<think>e</think><answer>enough</answer>", DONE], AgentLimits(max_turns=8)
    short = Bounds(conversation_chars=3_000)
    _, _, shortened = await search(script, bounds=short, limits=limits)
    _, _, whole = await search(script, bounds=Bounds(conversation_chars=3_000, shorten_conversations=False), limits=limits)
    assert len(shortened) > len(whole) == 2


async def test_a_conversation_that_reaches_the_trained_length_ends_the_search() -> None:
    found, _, rows = await search(
        [*(SEARCH % f"tariff {n}" for n in range(6)), DONE], context=5_600, limits=AgentLimits(max_turns=9)
    )
    assert found.stop is StopReason.MAX_TOKENS
    assert max(len(row.ids) for row in rows) <= 5_600


async def test_a_row_is_as_old_as_its_oldest_turn() -> None:
    engine, record = make_policy([ids_of("yes<|im_end|>")]), LocalRecord("t")
    sampler, opening = Sampler(engine, TEMPLATE, SETTINGS, 900), Message(role=ChatRole.USER, content="why")
    engine.policy_version = 4
    await record.ask("a", "act", sampler, ChatRequest(messages=(opening,)))
    engine.policy_version = 5
    further = (opening, Message(role=ChatRole.ASSISTANT, content="yes"), opening)
    await record.ask("a", "act", sampler, ChatRequest(messages=further))
    assert [row.policy_version for row in make_rows(record.trajectory)] == [4]


async def test_turns_that_were_stored_and_read_again_give_the_same_rows() -> None:
    _, record, rows = await search([SEARCH % "tariff", "<think>e</think><answer>enough</answer>", DONE])
    assert list(make_rows(Trajectory.of_any_version(record.trajectory.model_dump_json()))) == rows


async def test_a_rollout_without_sampled_tokens_has_no_rows() -> None:
    record = make_record()
    kit = make_kit(ScriptedModel([ModelRefused("no")]), record)
    await search_deeply(SUBTASK, PLAN, QUERY, kit)
    assert make_rows(record.trajectory) == make_rows(Trajectory(episode="none")) == ()


def make_turn(**tokens: object) -> Turn:
    sampled = SampledTokens(**{"prompt_ids": (1,), "completion_ids": (2,), "logprobs": (-1.0,)} | tokens)  # type: ignore[arg-type]
    completion = Completion(text="t", model="m", sampled=sampled)
    return Turn(agent="a", ordinal=0, kind=TurnKind.MODEL, step="act", digest="d", completion=completion)


@pytest.mark.parametrize(
    ("turn", "problem"),
    [
        (make_turn(conversation="c1", carried=3), "turn 0 carries 3 ids of chain 'c1', which has none"),
        (make_turn(logprobs=()), "1 sampled ids and 0 log-probabilities"),
        (make_turn(prompt_ids=()), "no prompt"),
    ],
)
def test_ids_that_do_not_fit_are_an_error(turn: Turn, problem: str) -> None:
    with pytest.raises(BrokenChain, match=problem):
        make_rows(Trajectory(episode="e", turns=(turn,)))


async def test_stored_turns_grow_with_the_conversation_not_with_its_square() -> None:
    def stored_ids(record: LocalRecord) -> int:
        sampled = [t.completion.sampled for t in record.trajectory.turns if t.completion]
        return sum(len(s.prompt_ids) + len(s.completion_ids) for s in sampled if s)

    turns = (4, 16)
    limits = AgentLimits(max_turns=16, max_tool_calls=40)
    told = [
        await search([*(SEARCH % f"tariff {n}" for n in range(many)), "<answer>enough</answer>"], 60_000, limits=limits)
        for many in turns
    ]
    few, many = (stored_ids(record) for _, record, _ in told)
    assert many < few * turns[1] / turns[0]
