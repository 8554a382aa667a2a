"""Staleness: how many versions of the policy ago rollouts were sampled."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from training.rollouts.groups import Group


@dataclass(slots=True)
class Staleness:
    """The number of rollouts trained on, by their age in versions of the policy. A version is one optimizer step."""

    by_age: dict[int, int] = field(default_factory=dict)

    def count_groups(self, groups: Sequence[Group], policy_version: int) -> None:
        """Count the rollouts of some groups."""
        for group in groups:
            for rollout, _ in group:
                age = policy_version - rollout.policy_version
                self.by_age[age] = self.by_age.get(age, 0) + 1

    def list_counts(self) -> list[tuple[str, int]]:
        """Return the counts by the names under which they are logged."""
        return [(f"staleness/{age}", count) for age, count in sorted(self.by_age.items())]
