"""How the collector samples groups, and which of them it hands over."""

from dataclasses import dataclass
from enum import StrEnum


class Handover(StrEnum):
    """The order in which groups are handed over: as they complete, or in the order of their tasks whatever takes how long."""

    AS_COMPLETED = "as_completed"
    IN_TASK_ORDER = "in_task_order"


@dataclass(frozen=True, slots=True)
class CollectorSettings:
    """How groups are sampled, and which are good enough.

    A group has `group_size` rollouts. The trainer makes a new version of the policy from `groups_a_step` groups. The policy of a
    group is at most `most_versions_old` of the sampler's versions old when the group is handed over: with 0 the current version
    sampled all of it, and nothing is sampled while the trainer steps. A group is sampled again when more than
    `most_missing_share` of its rewards are missing, or when `least_spread` is given and the standard deviation of its rewards is
    below it (DAPO's dynamic filter, MindDR section 5.3). After `most_tries` such groups the task is given up; after
    `most_given_up` such tasks one after the other, the collector fails.
    """

    group_size: int
    groups_a_step: int
    most_versions_old: int = 0
    most_missing_share: float = 0.25
    least_spread: float | None = None
    most_tries: int = 4
    most_given_up: int = 16
    handover: Handover = Handover.AS_COMPLETED
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.group_size, self.groups_a_step, self.most_tries, self.most_given_up) < 1 or self.most_versions_old < 0:
            raise ValueError(
                f"group_size, groups_a_step, most_tries and most_given_up are at least 1, most_versions_old at least 0: {self}"
            )
