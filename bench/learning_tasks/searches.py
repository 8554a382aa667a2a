"""`search_rl`: well-formed calls that meet a tape's entities.

On seed 100, which is none of those reported, these were chosen: the spread of the first weights, the mix of the searcher, the
length of SFT and the thresholds of the schedule. Nothing of Search-RL's objective was tuned.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.domain.chat import ChatRole
from app.domain.query import Language
from bench.learning_tasks.beginnings import Start, build_tokenizer, describe_sft, mask_all
from bench.learning_tasks.counted_searches import CountedSearch, count_search, probe_searches
from bench.learning_tasks.planted_searches import (
    ErringSearcher,
    PlantedWork,
    list_phrases,
    plant_works,
    read_findings,
    record_tape,
)
from bench.learning_tasks.protocol import PolicyScores, SeedScores
from bench.learning_tasks.runs import open_saved, open_training, train_on_examples
from bench.learning_tasks.scoring import score_answers
from training.recipes.config import TINY
from training.recipes.held_out import sample_held_out
from training.recipes.search_rl.config import SearchRLConfig
from training.recipes.search_rl.data import SearchGoal
from training.recipes.search_rl.schedule import RewardSchedule
from training.recipes.search_rl.train import train_on_tasks
from training.recipes.search_rl.work import open_work
from training.rewards.entities import Entity
from training.rollouts.nouns import Rollout, Task
from training.synthesis.graph_queries.row import Difficulty
from training.synthesis.trajectories.conversations import TrainedConversation, list_conversations
from workflows.chat_models.scripted import ScriptedModel

EXAMPLES, ITEMS, EPOCHS = 600, 96, 1.5
TEMPERATURE = 1.0
SPREAD = 0.1
"""The spread of the first weights. With .02 SFT of these minutes does not learn to copy a name from its prompt."""
TAPE, WHOLE_TAPE = "tape.jsonl", "whole-tape.jsonl"
WHOLE = {
    "start": {"tool": 0.6, "format": 0.3, "process": 0.1},
    "phases": [
        {"when": "tool", "reaches": 0.6, "tool": 0.2, "format": 0.3, "process": 0.5},
        {"when": "format", "reaches": 0.8, "tool": 0.2, "format": 0.1, "process": 0.7},
        {"when": "process", "reaches": 0.6, "tool": 0.1, "format": 0.1, "process": 0.3},
    ],
}
"""The weights of `paper.toml`. Its thresholds of .95 are lower here: a run has 24 steps, all sampled at temperature 1."""
FORM_ALONE = {"start": {"tool": 0.0, "format": 1.0, "process": 0.0}}


@dataclass(frozen=True, slots=True)
class SearchTask:
    """The task. Agent, tape, reward, schedule and credit are the recipe's own; the ablated reward is form alone.

    One more policy learns without credit by step.
    """

    recipe: str = "search_rl"
    epochs: float = EPOCHS

    def run_seed(self, folder: Path, seed: int, start: Start) -> SeedScores:
        """Train and measure."""
        learned, held_out = plant_works(seed)
        record_tape(learned).save(folder / TAPE)
        record_tape([*learned, *held_out]).save(folder / WHOLE_TAPE)
        shown = show_searches(folder, learned, seed)
        told = [
            message.content
            for conversation in shown
            for message in conversation.messages
            if message.role is not ChatRole.ASSISTANT
        ]
        base = start.make_base(folder / "base", build_tokenizer(list_phrases(told)), seed, SPREAD)
        taught = train_on_examples(folder / "sft", describe_sft(base, start, seed, 2e-3, 16, 3), mask_all(base, shown))

        def train(name: str, schedule: Mapping[str, Any], step_weight: float = 1.0) -> Path:
            config = describe_rl(taught, folder / TAPE, seed, schedule, start, self.epochs, step_weight)
            return train_searches(folder / name, config, learned)

        models = [base, taught, train("trained", WHOLE), train("ablated", FORM_ALONE), train("by-rollout", WHOLE, 0.0)]
        first, sft, trained, ablated, by_rollout = [asyncio.run(measure(each, start, folder, held_out, seed)) for each in models]
        return SeedScores(first, sft, trained, ablated, {"without_steps": by_rollout})


def describe_rl(
    base: Path,
    tape: Path,
    seed: int,
    schedule: Mapping[str, Any],
    start: Start,
    epochs: float = EPOCHS,
    step_weight: float = 1.0,
) -> SearchRLConfig:
    """Return the configuration of Search-RL, with MindDR's objective and its credit by step."""
    return SearchRLConfig.model_validate(
        {
            "model": start.describe_model(base),
            "data": {"sets": ["planted"]},
            "tools": {"tape": str(tape)},
            "chain": {"turns": 4, "calls_per_turn": 2, "observation_tokens": 400},
            "schedule": schedule,
            "objective": {"name": "mean_only_kl", "length": start.scale_tokens(64), "step_weight": step_weight},
            "optimizer": {
                "learning_rate": start.scale_rate(5e-4),
                "batch_size": start.limit_rows(32),
                "epochs": epochs,
                "schedule": "constant",
            },
            "rollouts": {
                "group_size": 8,
                "tasks_a_step": 4,
                "most_tokens": start.scale_tokens(24),
                "context": start.scale_tokens(320),
                "rows": 64,
            },
            "run": {"device": start.device, "seed": seed, "samples": 4, "save_every": 1_000},
        }
    )


def list_tasks(works: Sequence[PlantedWork]) -> list[Task[SearchGoal]]:
    """Return the tasks: the two entities are to be met, and the book is the answer."""
    return [
        Task(f"{n}", each.question, Language.ENGLISH, SearchGoal((Entity(each.builder), Entity(each.book)), Entity(each.book)))
        for n, each in enumerate(works)
    ]


async def sample_searches(config: SearchRLConfig, folder: Path, works: Sequence[PlantedWork], policy: Any) -> list[Rollout]:
    """Return one rollout of each work, as the recipe samples it."""
    schedule = RewardSchedule(config.schedule.start.weights, (), 1)
    return await sample_held_out(list_tasks(works), open_work(config, folder, schedule, policy))


def show_searches(folder: Path, works: Sequence[PlantedWork], seed: int) -> list[TrainedConversation]:
    """Return the conversations of the searcher of the mix, in the product's own chain over the tape."""

    def open_searcher(chosen: int) -> ScriptedModel:
        return ScriptedModel(ErringSearcher(works, random.Random(chosen)))

    config = describe_rl(Path(TINY), folder / TAPE, seed, FORM_ALONE, Start())
    drawn = random.Random(f"shown {seed}").choices(works, k=EXAMPLES)
    rollouts = asyncio.run(sample_searches(config, folder, drawn, open_searcher))
    return [conversation for rollout in rollouts for conversation in list_conversations(rollout.trajectory)]


def train_searches(path: Path, config: SearchRLConfig, works: Sequence[PlantedWork]) -> Path:
    """Train by the recipe; return the folder of the model."""
    with open_training(path, "search_rl", config) as folder:
        train_on_tasks(config, folder, {Difficulty.MEDIUM: list_tasks(works)}, {})
        return folder.model


async def measure(model: Path, start: Start, folder: Path, works: Sequence[PlantedWork], seed: int) -> PolicyScores:
    """Score a policy's searches on held-out works, over the tape that holds them."""
    config = describe_rl(model, folder / WHOLE_TAPE, seed, FORM_ALONE, start)
    asked = [works[n % len(works)] for n in range(ITEMS)]
    async with open_saved(model, start, config.rollouts, TEMPERATURE) as policy:
        rollouts = {rollout.task: rollout for rollout in await sample_searches(config, folder, asked, policy)}
    findings = read_findings(folder / WHOLE_TAPE)
    items = {f"{n}": work for n, work in enumerate(asked)}
    searches = {task: count_search(rollout.trajectory) for task, rollout in rollouts.items()}
    scores = score_answers(
        searches,
        items,
        lambda search, about: search.rate(about, findings),
        lambda search, about: {},
        key=lambda about: about.query,
        ideals=[CountedSearch(2, ((each.query,), (each.builder,)), ()) for each in works],
    )
    return replace(scores, probes=probe_searches([(search, items[task]) for task, search in searches.items()], findings))


TASK = SearchTask()
