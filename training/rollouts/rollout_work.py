"""Groups of rollouts: what the collector asks a recipe for, and what it hands to the trainer."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from statistics import pstdev
from typing import Generic, TypeAlias, TypeVar

from app.domain.missing import Missing
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, Task
from workflows.systems.local_record import LocalRecord

M = TypeVar("M")
MOST_SEED = 2**31


@dataclass(frozen=True, slots=True)
class Draw(Generic[M]):
    """One rollout to sample: sample `number` of the group at this `position` in the order of tasks, both from 0.

    `attempt` counts the groups that were sampled for this position before. `policy_version` is the policy's at the beginning.
    """

    task: Task[M]
    position: int
    number: int
    attempt: int
    policy_version: int
    run_seed: int = 0

    @property
    def episode(self) -> str:
        """The name of the rollout's record; no two rollouts of a run have the same."""
        return f"{self.task.id}/{self.position}/{self.number}/{self.attempt}"

    @property
    def seed(self) -> int:
        """The seed of its sampler, from 0 to 2^31 - 1. It depends on the run's seed and the rollout's place, and on no clock."""
        place = f"{self.run_seed}/{self.position}/{self.number}/{self.attempt}"
        return int.from_bytes(hashlib.sha256(place.encode()).digest()[:8]) % MOST_SEED


@dataclass(frozen=True, slots=True)
class RolloutOutcome:
    """What a rollout delivers, and how it ended; its turns are in its record."""

    output: str
    end: RolloutEnd
    detail: str = ""


RunRollout: TypeAlias = Callable[[Draw[M], LocalRecord], Awaitable[RolloutOutcome]]
JudgeRollout: TypeAlias = Callable[[Task[M], Rollout], Awaitable[Reward]]


@dataclass(frozen=True, slots=True)
class RolloutWork(Generic[M]):
    """The two parts that a recipe gives: one samples a rollout over a record, the other judges it. Both may raise any error."""

    run: RunRollout[M]
    judge: JudgeRollout[M]


@dataclass(frozen=True, slots=True)
class RolloutGroup(Generic[M]):
    """All samples of one task, by their numbers. `policy_version` is the oldest version that sampled any of their turns."""

    task: Task[M]
    position: int
    rollouts: tuple[Rollout, ...]
    policy_version: int

    @property
    def rewards(self) -> list[float]:
        """The rewards that are there."""
        return [rollout.reward.value for rollout in self.rollouts if not isinstance(rollout.reward.value, Missing)]

    @property
    def missing_share(self) -> float:
        """The share of rollouts without a reward."""
        return 1 - len(self.rewards) / len(self.rollouts)

    @property
    def spread(self) -> float:
        """The standard deviation of the rewards; 0 where there are none."""
        return pstdev(self.rewards) if self.rewards else 0.0
