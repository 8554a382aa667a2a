"""Difficulty sampling (MindDR 5.2): the shares of the levels are set so that the answers of a round are right in 10 to 50%.

The paper says what is aimed at, not how. Ours: where the expected accuracy of a round is outside of the bounds, the shares move
towards the one level that brings it back, and no further than they have to.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from training.recipes.run_folder import StepMetrics
from training.rollouts.nouns import Task
from training.synthesis.graph_queries.row import Difficulty

M = TypeVar("M")


LOGGED_FROM, LOGGED_SHARE = "mix/from", "mix/"
SETTLED = ("collected/handed_over", "collected/given_up")
"""What is logged of the groups of each step: one was drawn for each that was handed over or given up."""


@dataclass(frozen=True, slots=True)
class ShareChange:
    """The shares of the levels from a position in the order of tasks on."""

    position: int
    shares: Mapping[Difficulty, float]


class DifficultyMix(Generic[M]):
    """Draws tasks without end. The task at a position depends on the seed, the position and the shares in force there.

    Changes of the shares are read from what a run has logged, so that a run that goes on draws what it drew before.
    """

    def __init__(self, tasks: Mapping[Difficulty, Sequence[Task[M]]], seed: int, logged: Sequence[StepMetrics] = ()) -> None:
        self._tasks = {level: list(tasks[level]) for level in Difficulty if tasks.get(level)}
        self._seed = seed
        count = sum(map(len, self._tasks.values()))
        natural = {level: len(own) / count for level, own in self._tasks.items()}
        self._changes = [ShareChange(0, natural), *_read_changes(logged, natural)]
        self._drawn = _count_drawn(logged)

    def __iter__(self) -> Iterator[Task[M]]:
        position = 0
        while True:
            self._drawn = max(self._drawn, position + 1)
            yield self._draw_task(position)
            position += 1

    @property
    def shares(self) -> Mapping[Difficulty, float]:
        """The shares of the tasks that are drawn next; at first those of the data."""
        return self._changes[-1].shares

    def change_shares(self, shares: Mapping[Difficulty, float]) -> Mapping[str, float]:
        """Draw by these shares from the next task on. Return what is to be logged."""
        self._changes.append(ShareChange(self._drawn, shares))
        return {LOGGED_FROM: self._drawn} | {LOGGED_SHARE + level: share for level, share in shares.items()}

    def _draw_task(self, position: int) -> Task[M]:
        shares = [change.shares for change in self._changes if change.position <= position][-1]
        lot = random.Random(f"{self._seed}/{position}")
        level = lot.choices([*shares], [*shares.values()])[0]
        return lot.choice(self._tasks[level])


def _count_drawn(logged: Sequence[StepMetrics]) -> int:
    """Return the tasks that were drawn up to the last step that was logged, if none was drawn ahead."""
    return max((int(sum(each.values.get(name, 0.0) for name in SETTLED)) for each in logged), default=0)


def _read_changes(logged: Sequence[StepMetrics], levels: Mapping[Difficulty, float]) -> list[ShareChange]:
    changes = [each.values for each in logged if LOGGED_FROM in each.values]
    return [
        ShareChange(int(values[LOGGED_FROM]), {level: values[LOGGED_SHARE + level] for level in levels}) for values in changes
    ]


def expect_accuracy(shares: Mapping[Difficulty, float], accuracies: Mapping[Difficulty, float]) -> float:
    """Return the share of right answers in a round that is drawn by these shares."""
    return sum(share * accuracies[level] for level, share in shares.items())


def move_shares(
    shares: Mapping[Difficulty, float], accuracies: Mapping[Difficulty, float], low: float, high: float, least: float
) -> Mapping[Difficulty, float]:
    """Return shares whose expected accuracy is from `low` to `high`, as close to the given ones as the rule allows.

    They move on a line towards the level with the lowest accuracy (where a round is too easy) or the highest (where it is too
    hard), up to the bound that is missed; at the end of that line each other level keeps the share `least`. Where no mix
    reaches the bounds, the end of the line is returned. Levels that were not measured keep the shares as they are.
    """
    if not shares.keys() <= accuracies.keys():
        return shares
    expected = expect_accuracy(shares, accuracies)
    if low <= expected <= high:
        return shares
    bound, pick = (high, min) if expected > high else (low, max)
    wanted = pick(shares, key=lambda level: accuracies[level])
    end = {level: least if level is not wanted else 1 - least * (len(shares) - 1) for level in shares}
    gain = expected - expect_accuracy(end, accuracies)
    step = min(1.0, (expected - bound) / gain) if gain and (expected - bound) / gain > 0 else 0.0
    return {level: share + step * (end[level] - share) for level, share in shares.items()}
