"""Groups: all rollouts of one task, and which of them are fit to train on."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeAlias

from app.domain.missing import Missing
from training.rewards.score import Score
from training.rollouts.advantages import list_present, measure_spread, read_score
from training.rollouts.nouns import Rollout, TrainingRow

Group: TypeAlias = Sequence[tuple[Rollout, Sequence[TrainingRow]]]


class RewardsMissing(RuntimeError):
    """No group has enough rewards, however often it was asked for. The judge is probably away."""


class TasksOver(RuntimeError):
    """The source has no group left."""


class GroupSource(Protocol):
    """Samples and rewards groups. Its state is what it needs to go on after a restart: its place in the tasks, its counts."""

    def take_groups(self, count: int, policy_version: int) -> Sequence[Group]:
        """Return so many groups of tasks that come next, fewer at the end of the tasks; no group is empty."""
        ...

    def retake_groups(self, tasks: Sequence[str], policy_version: int) -> Sequence[Group]:
        """Return a new group of each of these tasks."""
        ...

    def save_state(self) -> Mapping[str, Any]:
        """Return the state, as JSON can hold it."""
        ...

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state."""
        ...


@dataclass(frozen=True, slots=True)
class GroupRules:
    """Which groups are fit to train on.

    A group of which more than `most_missing` (a share) has no reward is asked for again. A group whose rewards have a standard
    deviation below `least_spread` gives way to another task's (DAPO's dynamic sampling, MDR 5.3); None keeps it. After `rounds`
    rounds the batch is made of what there is.
    """

    most_missing: float = 0.5
    least_spread: float | None = None
    rounds: int = 4


@dataclass(slots=True)
class GroupCounts:
    """How many groups were taken, asked for again, dropped for want of spread, and not found in the rounds allowed."""

    taken: int = 0
    asked_again: int = 0
    dropped_flat: int = 0
    not_found: int = 0
    missing_rewards: int = 0

    def list_counts(self) -> list[tuple[str, int]]:
        """Return the counts by the names under which they are logged."""
        return [(f"groups/{name}", count) for name, count in asdict(self).items()]


@dataclass(frozen=True, slots=True)
class ScoredGroup:
    """A group and the score of each of its rollouts."""

    group: Group
    scores: tuple[Score, ...]

    @property
    def missing_share(self) -> float:
        """Return the share of rollouts without a reward."""
        return 1 - len(list_present(self.scores)) / len(self.scores)


def take_fit_groups(
    source: GroupSource,
    wanted: int,
    policy_version: int,
    rules: GroupRules,
    part_weights: Mapping[str, float] | None,
    counts: GroupCounts,
) -> list[ScoredGroup]:
    """Return the groups of one batch, at most `wanted`, and count what was taken and refused.

    Raises:
        RewardsMissing: no group is fit, and in the last round rewards were missing.
        TasksOver: the source gives no group at all.
    """
    fit: list[ScoredGroup] = []
    again: list[str] = []
    for _ in range(rules.rounds):
        new = wanted - len(fit) - len(again)
        groups = [*source.retake_groups(again, policy_version)] if again else []
        groups += source.take_groups(new, policy_version) if new else []
        again = []
        for scored in (score_group(group, part_weights) for group in groups):
            _sort_group(scored, rules, counts, fit, again)
        if len(fit) == wanted:
            break
    if not groups and not fit:
        raise TasksOver("the source of groups has no task left; max_steps is too high for it")
    if not fit and again:
        raise RewardsMissing(f"of {again} more than {rules.most_missing:.0%} of the rewards are missing: {_tell_reasons(scored)}")
    counts.not_found += wanted - len(fit)
    return fit


def score_group(group: Group, part_weights: Mapping[str, float] | None) -> ScoredGroup:
    """Return the group with each rollout's score, read once."""
    return ScoredGroup(group, tuple(read_score(rollout.reward, part_weights) for rollout, _ in group))


def _sort_group(scored: ScoredGroup, rules: GroupRules, counts: GroupCounts, fit: list[ScoredGroup], again: list[str]) -> None:
    present = list_present(scored.scores)
    counts.taken += 1
    counts.missing_rewards += len(scored.scores) - len(present)
    if scored.missing_share > rules.most_missing:
        counts.asked_again += 1
        again.append(scored.group[0][0].task)
    elif rules.least_spread is not None and measure_spread(present) < rules.least_spread:
        counts.dropped_flat += 1
    else:
        fit.append(scored)


def _tell_reasons(scored: ScoredGroup) -> str:
    return "; ".join(dict.fromkeys(score.reason for score in scored.scores if isinstance(score, Missing)))
