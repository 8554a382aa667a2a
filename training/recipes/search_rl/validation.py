"""The validation of Search-RL: how often the policy is right at each level of difficulty, and the shares that follow from it."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from statistics import fmean

from training.recipes.held_out import MISSING, sample_held_out
from training.recipes.search_rl.config import DifficultySection
from training.recipes.search_rl.data import SearchGoal
from training.recipes.search_rl.difficulty import DifficultyMix, move_shares
from training.recipes.search_rl.schedule import RewardPart, weigh_parts
from training.rewards.composites import SearchWeights
from training.rollouts.advantages import read_score
from training.rollouts.collection_failures import CollectionFailed
from training.rollouts.nouns import Rollout, Task
from training.rollouts.rollout_work import RolloutWork
from training.synthesis.graph_queries.row import Difficulty

ACCURACY = "validation_right/"


def choose_tasks(tasks: Mapping[Difficulty, Sequence[Task[SearchGoal]]], most: int) -> dict[str, Difficulty]:
    """Return the ids of at most so many tasks with their levels: as many of each level as it has, in turn."""
    chosen: dict[str, Difficulty] = {}
    longest = max(map(len, tasks.values()), default=0)
    in_turn = [(own[place].id, level) for place in range(longest) for level, own in tasks.items() if place < len(own)]
    chosen.update(in_turn[:most])
    return chosen


async def measure_policy(
    tasks: Mapping[Difficulty, Sequence[Task[SearchGoal]]],
    most: int,
    opened: AbstractAsyncContextManager[RolloutWork[SearchGoal]],
    weights: SearchWeights,
) -> dict[str, float]:
    """Return the mean reward by these weights, which compares policies, and the share of right answers at each level.

    Raises:
        CollectionFailed: no rollout has a reward.
    """
    levels = choose_tasks(tasks, most)
    asked = [task for own in tasks.values() for task in own if task.id in levels]
    rollouts = await sample_held_out(asked, opened)
    scores = [score for one in rollouts if isinstance(score := read_score(one.reward, weigh_parts(weights)), float)]
    if not scores:
        raise CollectionFailed("validation: no rollout has a reward by the weights of the last phase")
    return {"validation": fmean(scores), MISSING: 1 - len(scores) / len(asked)} | _measure_accuracies(rollouts, levels)


def _measure_accuracies(rollouts: Sequence[Rollout], levels: Mapping[str, Difficulty]) -> dict[str, float]:
    found: dict[Difficulty, list[float]] = {}
    for rollout in rollouts:
        right = rollout.reward.parts.get(RewardPart.OUTCOME)
        if isinstance(right, float):
            found.setdefault(levels[rollout.task], []).append(right)
    return {ACCURACY + level: fmean(values) for level, values in found.items()}


def adapt_mix(mix: DifficultyMix[SearchGoal], measured: Mapping[str, float], section: DifficultySection) -> Mapping[str, float]:
    """Move the shares of the levels by what was measured. Return what is to be logged; nothing where they stay."""
    accuracies = {level: measured[ACCURACY + level] for level in Difficulty if ACCURACY + level in measured}
    moved = move_shares(mix.shares, accuracies, section.low, section.high, section.least)
    return mix.change_shares(moved) if moved != mix.shares else {}
