"""Why a group is not handed over, and why a collection ends before its tasks are over."""

from enum import StrEnum
from statistics import fmean
from typing import Any

from app.domain.errors import RubricaError
from app.domain.missing import Missing
from training.rollouts.nouns import RolloutEnd
from training.rollouts.rollout_work import RolloutGroup


class CollectionFailed(RubricaError):
    """No further group can be collected; the message says why."""


class NothingLeftToLearn(CollectionFailed):
    """In many tasks, one after the other, all rollouts got the same reward, and none of them failed."""


class Fault(StrEnum):
    """The reason why a group is not handed over, but sampled again."""

    TOO_OLD = "its policy is too old"
    TOO_MANY_MISSING = "too many rewards are missing"
    NO_SPREAD = "its rewards do not differ"


class GivenUpTasks:
    """Counts the tasks that were given up one after the other. At `most`, it says how the collection ends."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = self._equal = 0

    def end_row(self) -> None:
        """Forget them: a group was good."""
        self._count = self._equal = 0

    def add(self, group: RolloutGroup[Any], fault: Fault) -> CollectionFailed | None:
        """Add a task by its last group. Return the error with which the collection ends, if they are too many."""
        self._count += 1
        self._equal += fault is Fault.NO_SPREAD and not _has_rewarded_failure(group)
        if self._count < self._most:
            return None
        kind = NothingLeftToLearn if self._equal == self._count else CollectionFailed
        return kind(f"no more rollouts: {self._count} tasks were given up; of the last, {fault} ({_describe_rewards(group)})")


def _has_rewarded_failure(group: RolloutGroup[Any]) -> bool:
    """Say whether a rollout that failed has a reward: then equal rewards may mean that all fail alike."""
    return any(each.end is RolloutEnd.FAILED and not isinstance(each.reward.value, Missing) for each in group.rollouts)


def _describe_rewards(group: RolloutGroup[Any]) -> str:
    """Say why a rollout failed or has no reward; else what the rewards are."""
    reasons = [each.reward.value.reason for each in group.rollouts if isinstance(each.reward.value, Missing)]
    details = [each.detail for each in group.rollouts if each.end is RolloutEnd.FAILED] + reasons
    told = next((detail for detail in details if detail), "no rollout says more")
    return told if details else f"{fmean(group.rewards):.4g} on average"
