"""A rollout of Search-RL and its judgement: the product's search agent on a tape, and three judges over sockets."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.domain.chat import ChatRequest
from app.domain.missing import Missing
from app.domain.query import Language
from app.domain.split import Split
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.support.training_sets import record_searches, write_set
from training.recipes.search_rl.config import SearchRLConfig
from training.recipes.search_rl.data import SearchGoal, read_tasks
from training.recipes.search_rl.difficulty import DifficultyMix
from training.recipes.search_rl.schedule import RewardPart, RewardSchedule
from training.recipes.search_rl.validation import ACCURACY, adapt_mix, measure_policy
from training.recipes.search_rl.work import open_work
from training.rewards.composites import SearchWeights
from training.rewards.entities import Entity
from training.rollouts.collect import Collector
from training.rollouts.collector_settings import CollectorSettings
from training.rollouts.nouns import Rollout, RolloutEnd, Task
from workflows.chat_models.scripted import ScriptedModel

GOAL = SearchGoal((Entity("Ashford"), Entity("Dunmore"), Entity("Kirby"), Entity("Hadley")), Entity("3 fathoms"))
TASK = Task("row-0", "Ashford 0: how deep was pier 0?", Language.ENGLISH, GOAL)
WEIGHTS = {"tool": 0.2, "format": 0.1, "process": 0.4}
QUOTED = "Pier 0 of Dunmore is 3 fathoms deep."


def make_config(folder: Path, judges: tuple[str, ...] = (), weights: Mapping[str, float] = WEIGHTS) -> SearchRLConfig:
    record_searches(3).save(folder / "tape.jsonl")
    return SearchRLConfig.model_validate(
        {
            "model": {"base": "tiny-random"},
            "optimizer": {"learning_rate": 1e-3},
            "rollouts": {"tasks_a_step": 1, "most_tokens": 64, "context": 4096},
            "data": {"sets": [str(folder / "graph-queries")]},
            "tools": {"tape": str(folder / "tape.jsonl")},
            "chain": {"turns": 4, "calls_per_turn": 2, "observation_tokens": 500},
            "judges": [{"url": url, "model": f"judge-{place}"} for place, url in enumerate(judges)],
            "schedule": {"start": weights},
        }
    )


def search_and_answer(request: ChatRequest) -> str:
    """Search for something that is not on the tape, then for something that is; quote it and answer."""
    said = [message.content for message in request.messages]
    if "The search is over" in said[-1]:
        quotes = [{"passage": "p1", "text": QUOTED}]
        return f"<think>t</think><answer>{json.dumps({'quotes': quotes, 'answer': 'It was 3 fathoms deep [p1].'})}</answer>"
    if len(said) < 4:
        return '<think>t</think><tool_call>{"name": "search", "arguments": {"query": "unheard of"}}</tool_call>'
    if len(said) < 6:
        return '<think>t</think><tool_call>{"name": "search", "arguments": {"query": "Ashford harbour"}}</tool_call>'
    return "<think>t</think><answer>3 fathoms</answer>"


async def sample_group(config: SearchRLConfig, folder: Path) -> tuple[Rollout, ...]:
    schedule = RewardSchedule(config.schedule.start.weights, (), 1)
    settings = CollectorSettings(group_size=2, groups_a_step=1, most_missing_share=1.0, most_tries=1)
    opened = open_work(config, folder, schedule, lambda _: ScriptedModel(search_and_answer))
    async with opened as work, Collector([TASK], work, settings) as collector:
        groups = await collector.next_batch(1)
    return groups[0].rollouts


async def test_a_call_off_the_tape_is_an_error_that_the_policy_observes(tmp_path: Path) -> None:
    rollouts = await sample_group(make_config(tmp_path), tmp_path)
    assert [rollout.end for rollout in rollouts] == [RolloutEnd.FINISHED] * 2, rollouts[0].detail
    rollout = rollouts[0]
    results = [turn.result for turn in rollout.trajectory.turns if turn.result]
    assert ["no results" in result.error for result in results] == [True, False]
    # Steps: a call that fails (-.1), one that works (+.1), the end, the finding; all four in form. Ashford and Dunmore are met.
    parts = rollout.reward.parts
    assert parts[RewardPart.TOOL] == pytest.approx(0.0)
    assert parts[RewardPart.FORMAT] == pytest.approx(0.1)
    assert parts[RewardPart.PROCESS] == 0.5
    assert parts[RewardPart.OUTCOME] == 1.0
    assert rollout.reward.value == pytest.approx(0.3 * 1 + 0.4 * 0.5 + 0.1 * 0.1)
    assert rollout.reward.steps == pytest.approx([-0.02 + 0.01, 0.02 + 0.01 + 0.4 * 0.5, 0.01, 0.01])


@pytest.mark.parametrize(("votes", "right"), [((True, True, False), 1.0), ((False, False, True), 0.0)])
async def test_three_judges_decide_by_majority(votes: tuple[bool, ...], right: float, tmp_path: Path) -> None:
    def make_judge(vote: bool) -> Any:
        def answer(prompt: StubPrompt) -> str:
            if prompt.step == "short_answer":
                return json.dumps({"answer": "3 fathoms"})
            assert "3 fathoms" in prompt.last
            return json.dumps({"analysis": "a", "result": "yes" if vote else "no"})

        return answer

    async with (
        serve_model_stub(ModelStub(answerer=make_judge(votes[0]))) as first,
        serve_model_stub(ModelStub(answerer=make_judge(votes[1]))) as second,
        serve_model_stub(ModelStub(answerer=make_judge(votes[2]))) as third,
    ):
        config = make_config(tmp_path, (first.base_url, second.base_url, third.base_url))
        rollouts = await sample_group(config, tmp_path)
    assert rollouts[0].reward.parts[RewardPart.OUTCOME] == right


async def test_judges_that_are_away_cost_the_outcome_only(tmp_path: Path) -> None:
    async with serve_model_stub(ModelStub(answerer=lambda _: "I will not say.")) as stub:
        config = make_config(tmp_path, (stub.base_url,), {"tool": 0.6, "format": 0.3, "process": 0.1})
        rollouts = await sample_group(config, tmp_path)
    assert isinstance(rollouts[0].reward.parts[RewardPart.OUTCOME], Missing)
    assert rollouts[0].reward.value == pytest.approx(0.3 * 0.1 + 0.1 * 0.5)


async def test_validation_moves_the_shares_of_the_levels(tmp_path: Path) -> None:
    write_set(tmp_path / "graph-queries", "graph-queries", 30)
    config = make_config(tmp_path)
    record_searches(30).save(tmp_path / "tape.jsonl")
    tasks = read_tasks(config.data.sets, Split.TRAIN)
    schedule = RewardSchedule(SearchWeights(**WEIGHTS), (), 1)
    opened = open_work(config, tmp_path, schedule, lambda _: ScriptedModel(search_and_answer))
    measured = await measure_policy(tasks, 9, opened, SearchWeights(**WEIGHTS))
    accuracies = {name: value for name, value in measured.items() if name.startswith(ACCURACY)}
    assert len(accuracies) == 3
    assert set(accuracies.values()) <= {0.0, 1 / 3, 2 / 3}
    mix = DifficultyMix(tasks, 0)
    before = dict(mix.shares)
    logged = adapt_mix(mix, {ACCURACY + level: 1.0 - 0.2 * n for n, level in enumerate(before)}, config.difficulty)
    assert logged["mix/hard"] == mix.shares[list(before)[2]] > 0.8
