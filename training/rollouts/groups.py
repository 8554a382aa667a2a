"""Groups: all rollouts of one task, each with its rows and its score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from training.rewards.score import Score
from training.rollouts.advantages import read_score
from training.rollouts.nouns import Rollout, TrainingRow

Group: TypeAlias = Sequence[tuple[Rollout, Sequence[TrainingRow]]]


class TasksOver(RuntimeError):
    """The source has no group left."""


class GroupSource(Protocol):
    """Samples, rewards and filters groups.

    Its state is what it needs to go on after a restart: its place in the tasks, its counts.
    """

    def take_groups(self, count: int, policy_version: int) -> Sequence[Group]:
        """Return so many groups of tasks that come next, fewer at the end of the tasks; no group is empty."""
        ...

    def save_state(self) -> Mapping[str, Any]:
        """Return the state, as JSON can hold it."""
        ...

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state."""
        ...


@dataclass(frozen=True, slots=True)
class ScoredGroup:
    """A group and the score of each of its rollouts."""

    group: Group
    scores: tuple[Score, ...]


def score_group(group: Group, part_weights: Mapping[str, float] | None) -> ScoredGroup:
    """Return the group with each rollout's score, read once."""
    return ScoredGroup(group, tuple(read_score(rollout.reward, part_weights) for rollout, _ in group))
