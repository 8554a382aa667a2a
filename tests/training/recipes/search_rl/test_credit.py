"""The reward of Search-RL, worked out by hand."""

import pytest

from app.domain.missing import Missing
from tests.workflows.agent_kit import make_record
from tests.workflows.agents.scripted_search import SUBTASK, search_subtask
from training.recipes.search_rl.credit import compose_reward
from training.recipes.search_rl.schedule import FORMAT_RATE, TOOL_RATE, RewardPart
from training.rewards.composites import SearchWeights
from training.rewards.entities import Entity
from training.rewards.transcript import Transcript, TranscriptStep, read_step, transcript_of
from workflows.agents.codec import TagCodec
from workflows.agents.stage_memory import path_of_search
from workflows.chat_models.scripted import ScriptedModel

ENTITIES = (Entity("Elsmere"), Entity("Corwen", ("Port Corwen",)), Entity("Hadley"), Entity("Kirby"))
HALF = SearchWeights(tool=0.2, format=0.1, process=0.4)


def search(*queries: str, observed: str = "", errors: int = 0) -> TranscriptStep:
    said = "".join(f'<tool_call>{{"name": "search", "arguments": {{"query": "{query}"}}}}</tool_call>' for query in queries)
    return read_step(f"<think>Hadley may help</think>{said}", [observed] if observed else [], errors)


def make_transcript() -> Transcript:
    """A search that meets two entities, a failed call, another, something out of form, and an answer."""
    return Transcript(
        (
            search("harbour", observed="Elsmere lies near Port Corwen."),
            search("pier", errors=1),
            search("quay", errors=1),
            read_step("I think that I am done"),
            search("depth", observed="Elsmere again, and Kirby."),
            read_step("<think>enough</think><answer>Kirby</answer>"),
        )
    )


def test_parts_and_steps_are_those_of_equations_6_to_9() -> None:
    reward = compose_reward(make_transcript(), ENTITIES, 1.0, HALF)
    # Eq. 6: +.1, -.1 (isolated), -.2 (consecutive), no call, +.1, no call; Eq. 7: one of six steps is out of form.
    assert reward.parts[RewardPart.TOOL] == pytest.approx((0.1 - 0.1 - 0.2 + 0.1) / 6)
    assert reward.parts[RewardPart.FORMAT] == pytest.approx((5 * 0.1 - 0.2) / 6)
    # Eq. 8: Elsmere, Corwen and Kirby were observed; Hadley stands in thoughts alone.
    assert reward.parts[RewardPart.PROCESS] == pytest.approx(3 / 4)
    assert reward.value == pytest.approx(0.3 * 1.0 + 0.4 * 0.75 + 0.2 * (-0.1 / 6) + 0.1 * (0.3 / 6))
    assert reward.parts[TOOL_RATE] == pytest.approx(2 / 4)
    assert reward.parts[FORMAT_RATE] == pytest.approx(5 / 6)
    usual = (0.1 - 0.1 - 0.2 + 0.1) / 4  # of the four steps that call
    expected = [
        0.2 * 0.1 + 0.1 * 0.1 + 0.4 * 2 / 4,
        0.2 * -0.1 + 0.1 * 0.1,
        0.2 * -0.2 + 0.1 * 0.1,
        0.2 * usual + 0.1 * -0.2,
        0.2 * 0.1 + 0.1 * 0.1 + 0.4 * 1 / 4,
        0.2 * usual + 0.1 * 0.1,
    ]
    assert reward.steps == pytest.approx(expected)


async def test_a_search_that_the_loop_makes_in_place_of_the_policy_is_neither_paid_nor_punished() -> None:
    record = make_record()
    await search_subtask(
        ScriptedModel(lambda _: "<think>enough</think><answer>It was [p1].</answer>"), record=record, codec=TagCodec()
    )
    titles = {passage.source.title for turn in record.trajectory.turns if turn.result for passage in turn.result.passages}
    read = transcript_of(record.trajectory, path_of_search(SUBTASK.id))
    assert titles
    reward = compose_reward(read, [Entity(title) for title in titles], 1.0, HALF)
    assert reward.parts[RewardPart.PROCESS] == reward.parts[RewardPart.TOOL] == 0.0
    assert reward.steps == pytest.approx([0.1 * 0.1] * len(read.steps))


def test_as_published_a_name_in_a_thought_counts() -> None:
    reward = compose_reward(make_transcript(), ENTITIES, 1.0, HALF, published=True)
    assert reward.parts[RewardPart.PROCESS] == 1.0
    assert reward.steps[0] == pytest.approx(0.2 * 0.1 + 0.1 * 0.1 + 0.4 * 3 / 4)


def test_to_stop_is_worth_as_much_as_another_call_that_finds_nothing_new() -> None:
    stopped = (search("harbour", observed="Elsmere"), read_step("<think>enough</think><answer>Elsmere</answer>"))
    went_on = (stopped[0], search("pier", observed="nothing of it"), stopped[1])
    short, long = (compose_reward(Transcript(steps), ENTITIES, 1.0, SearchWeights()).steps for steps in (stopped, went_on))
    assert short[1] == pytest.approx(long[1]) == pytest.approx(long[2])


def test_without_weight_the_outcome_may_be_missing() -> None:
    away = Missing("the judge is away")
    start = SearchWeights()
    assert compose_reward(make_transcript(), ENTITIES, away, start).value == pytest.approx(
        0.6 * (-0.1 / 6) + 0.3 * (0.3 / 6) + 0.1 * 0.75
    )
    assert isinstance(compose_reward(make_transcript(), ENTITIES, away, HALF).value, Missing)


def test_a_search_without_steps_has_no_reward() -> None:
    reward = compose_reward(Transcript(()), ENTITIES, 0.0, SearchWeights())
    assert isinstance(reward.value, Missing)
    assert reward.steps == ()
