"""Groups for the tests of the trainer: planted ones, and those that a policy samples."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.trajectory import Trajectory, Turn, TurnKind
from training.rewards.score import Score
from training.rollouts.groups import Group
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, TrainingRow


def make_row(ids: Sequence[int], said: int, turn: int = 0, logprob: float = -3.0) -> TrainingRow:
    """Make a row whose last `said` ids were sampled in one turn."""
    seen = len(ids) - said
    return TrainingRow(
        agent="a",
        ids=tuple(ids),
        sampled=(False,) * seen + (True,) * said,
        logprobs=(0.0,) * seen + (logprob,) * said,
        turns=(-1,) * seen + (turn,) * said,
    )


def make_rollout(
    value: Score,
    task: str = "t",
    number: int = 0,
    end: RolloutEnd = RolloutEnd.FINISHED,
    steps: Sequence[float] = (),
    kinds: Sequence[TurnKind] = (),
    parts: Mapping[str, Score] | None = None,
    version: int = 0,
) -> Rollout:
    """Make a rollout with so many turns as `kinds` has."""
    turns = tuple(Turn(agent="a", ordinal=place, kind=kind, step="s", digest="d") for place, kind in enumerate(kinds))
    trajectory = Trajectory(episode=task, turns=turns)
    reward = Reward(value, parts or {}, tuple(steps))
    return Rollout(task, number, trajectory, "", end, reward, policy_version=version)


class PlantedGroups:
    """A source that gives planted groups, and then the last one again and again."""

    def __init__(self, *groups: Group) -> None:
        self._groups = list(groups)
        self.taken = 0

    def take_groups(self, count: int, policy_version: int) -> Sequence[Group]:
        """Give the groups that come next."""
        first, self.taken = self.taken, self.taken + count
        return [self._groups[min(place, len(self._groups) - 1)] for place in range(first, self.taken)]

    def save_state(self) -> Mapping[str, Any]:
        """Return how many groups were taken."""
        return {"taken": self.taken}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on after so many groups."""
        self.taken = state["taken"]
