"""Tasks, rollouts, rewards and training rows: what the sampler, the collector, the trainer and the recipes share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from app.domain.query import Language
from app.domain.trajectory import Trajectory
from training.rewards.score import Score

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Task(Generic[M]):
    """One question of a training set, with the material that its recipe's reward needs."""

    id: str
    question: str
    language: Language
    material: M


class RolloutEnd(StrEnum):
    """The way a rollout ended. Only `FINISHED` means that the policy ended it; `CAPPED` means that a limit did."""

    FINISHED = "finished"
    CAPPED = "capped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Reward:
    """The reward of one rollout, and its parts by name.

    `steps` has one reward for each model turn, where a recipe gives credit by step; else it is empty.
    """

    value: Score
    parts: Mapping[str, Score] = field(default_factory=dict)
    steps: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Rollout:
    """One sample of a task. `number` counts the samples of the task's group from 0; `output` is what is delivered.

    `policy_version` is the oldest version of the policy that sampled any of its turns.
    """

    task: str
    number: int
    trajectory: Trajectory
    output: str
    end: RolloutEnd
    reward: Reward
    detail: str = ""
    policy_version: int = 0


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A maximal chain of one agent's turns in which each prompt begins with all token ids before it.

    `ids`, `sampled`, `logprobs` and `turns` have one entry a token. `sampled` is true where the policy chose the token; there
    `logprobs` is the sampler's natural log-probability and `turns` the position of the model turn in the rollout's trajectory.
    Elsewhere they are 0.0 and -1. The first token is never sampled.
    """

    agent: str
    ids: tuple[int, ...]
    sampled: tuple[bool, ...]
    logprobs: tuple[float, ...]
    turns: tuple[int, ...]
    policy_version: int = 0
