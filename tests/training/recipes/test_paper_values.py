"""The values that the papers give, written here by hand from their tables, against the configurations of the recipes."""

import tomllib
from functools import reduce
from typing import Any

import pytest

from tests.training.recipes.toy_runs import RECIPES
from training.recipes.agent_rl.config import AgentRLConfig
from training.recipes.config import read_config
from training.recipes.ordering import count_steps
from training.recipes.search_rl.config import SearchRLConfig
from training.recipes.sft_cold_start.config import ColdStartConfig

GRPO = {"optimizer.learning_rate": 1e-6, "optimizer.schedule": "constant", "rollouts.group_size": 8, "rollouts.temperature": 1.0}
QSR = GRPO | {
    "optimizer.weight_decay": 0.1,
    "objective.kl_weight": 0.0,
    "rollouts.top_p": 1.0,
    "rollouts.context": 65_536,
    "judge.model": "Qwen/Qwen3-235B-A22B",
    "judge.temperature": 0.3,
}
GENERATOR = QSR | {
    "rollouts.most_tokens": 8_192,
    "rollouts.tasks_a_step": 32,
    "reward.preference": 1.0,
    "reward.quality": 1.0,
    "cost.devices": 8,
}
VALUES: dict[str, dict[str, Any]] = {
    # DRub Table 4; a step takes 16 batches of 1 on each of 8 devices.
    "sft_cold_start/deeprubric": {
        "model.base": "Qwen/Qwen3-8B",
        "model.dtype": "bfloat16",
        "data.most_rows": 200,
        "data.max_tokens": 16_384,
        "optimizer.epochs": 2,
        "optimizer.learning_rate": 4e-5,
        "optimizer.schedule": "cosine",
        "optimizer.warmup_ratio": 0.1,
        "optimizer.batch_size": 1,
        "optimizer.accumulation": 16 * 8,
        "optimizer.weight_decay": 0.0,
        "cost.devices": 8,
    },
    # DRub Table 5, Eq. 5.
    "agent_rl/paper": GRPO
    | {
        "model.dtype": "bfloat16",
        "objective.name": "grpo",
        "data.skip_rows": 200,
        "rollouts.tasks_a_step": 8,
        "rollouts.context": 2_096 + 28_288,
        "rollouts.top_p": 1.0,
        "rollouts.engine": "vllm",
        "chain.turns": 20,
        "chain.action_tokens": 2_048,
        "chain.observation_tokens": 4_096,
        "chain.conversation_tokens": 28_288,
        "optimizer.weight_decay": 0.0,
        "judge.model": "Qwen/Qwen3.5-35B-A3B",
        "reward.rubric": 0.5,
        "reward.format": 0.2,
        "reward.citation": 0.2,
        "reward.search": 0.1,
        "cost.devices": 8,
    },
    # QSR Table 3, D, 4.1. GSPO shares them but for the ratio that is clipped (4.4).
    "rubric_generator/paper": GENERATOR
    | {"objective.name": "grpo", "objective.clip_low": 0.2, "objective.clip_high": 0.2, "rollouts.updates": 1},
    "rubric_generator/gspo": GENERATOR | {"objective.name": "gspo"},
    # QSR Table 4, D, 4.1.
    "agent_rl/mams": QSR
    | {
        "model.base": "Alibaba-NLP/Tongyi-DeepResearch-30B-A3B",
        "system": "mams",
        "objective.name": "grpo",
        "objective.clip_low": 0.2,
        "objective.clip_high": 0.2,
        "rollouts.most_tokens": 16_384,
        "rollouts.tasks_a_step": 8,
        "chain.turns": 10,
        "chain.calls_per_turn": 5,
        "chain.observation_tokens": 24_000,
        "cost.devices": 32,
    },
    "sft_cold_start/rubrics": {"model.base": "Qwen/Qwen3-30B-A3B"},
    # MDR 5.1.
    "sft_cold_start/paper": {
        "data.max_tokens": 128 * 1024,
        "stopping.contexts": [64 * 1024, 128 * 1024],
        "stopping.check_every": 10_000,
        "stopping.mid_step": 60_000,
        "stopping.entropy_kept": 0.9,
    },
    # MDR 5.1 (G), 5.2.
    "search_rl/paper": {
        "rollouts.group_size": 8,
        "rollouts.context": 128 * 1024,
        "schedule.start": {"tool": 0.6, "format": 0.3, "process": 0.1},
        "difficulty.low": 0.1,
        "difficulty.high": 0.5,
    },
    # MDR 5.3.
    "report_rl/paper": {
        "model.base": "Qwen/Qwen3-32B",
        "objective.name": "dapo",
        "objective.kl_weight": 0.0,
        "reward.race": True,
    },
}
SAID = {
    "agent_rl/paper": ["9,064", "2,096", "FSDP with parameters and optimizer offloaded", "0.6"],
    "agent_rl/mams": ["Adam", "6,000", "TP 4, EP 8, CP 2", "top-p .95", "131,072"],
    "rubric_generator/paper": ["AdamW", "30,000", "TP 4, EP 8, CP 1", "batch size of 256", "top-p .95", "131,072"],
    "sft_cold_start/deeprubric": ["GPT-5.1"],
    "sft_cold_start/rubrics": ["GPT-5"],
    "preference_dpo/paper": ["1.8K", "2.8K"],
    "self_sft/paper": ["4.3K"],
}
"""What no key holds: the comments say it."""


@pytest.mark.parametrize("name", VALUES)
def test_a_configuration_has_the_values_of_its_paper(name: str) -> None:
    said = tomllib.loads((RECIPES / f"{name}.toml").read_text())
    found = {key: reduce(lambda section, part: section.get(part, {}), key.split("."), said) for key in VALUES[name]}
    assert found == VALUES[name]


@pytest.mark.parametrize("name", SAID)
def test_a_comment_says_what_no_key_holds(name: str) -> None:
    text = (RECIPES / f"{name}.toml").read_text()
    assert [each for each in SAID[name] if each not in text] == []


def test_runs_take_the_papers_steps_and_batches() -> None:
    drub = read_config(RECIPES / "agent_rl" / "paper.toml", AgentRLConfig)
    assert drub.count_steps(9_064 - 200) == 140 * drub.rollouts.updates
    assert drub.rollouts.rollouts_a_step == 64
    assert drub.run.save_every == 5 * drub.rollouts.updates
    mams = read_config(RECIPES / "agent_rl" / "mams.toml", AgentRLConfig)
    assert mams.accumulation * mams.batch_rollouts == 64, "one process takes the whole batch"
    assert read_config(RECIPES / "search_rl" / "paper.toml", SearchRLConfig).count_steps(35_000) == 180


def test_the_stopping_rule_of_the_cold_start_can_end_it_at_the_papers_size() -> None:
    config = read_config(RECIPES / "sft_cold_start" / "paper.toml", ColdStartConfig)
    assert config.stopping is not None
    steps = count_steps(15_000, config.optimizer.epochs, config.examples_a_step)
    assert config.stopping.first_end == 60_000
    assert steps == 150_000, "MDR 5.1: ended at 100K to 150K samples"
