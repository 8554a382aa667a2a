"""What the collector keeps over a restart: its place among the tasks, and what it counted."""

from dataclasses import dataclass, field, replace

from app.domain.value import Value
from training.rollouts.nouns import Rollout, RolloutEnd


@dataclass
class CollectorCounts:
    """Counts since the first start of a training run.

    Groups: `handed_over`; `too_old`, `too_many_missing` and `no_spread` were rejected; `given_up` had no try left and were not
    sampled again. Rollouts: by their end, and those without a reward. `staleness` counts the groups that were handed over by how
    many versions old their policy was.
    """

    handed_over: int = 0
    too_old: int = 0
    too_many_missing: int = 0
    no_spread: int = 0
    given_up: int = 0
    finished: int = 0
    capped: int = 0
    failed: int = 0
    rewards_missing: int = 0
    staleness: dict[int, int] = field(default_factory=dict)

    @property
    def rejected(self) -> int:
        """The groups that were sampled in vain."""
        return self.too_old + self.too_many_missing + self.no_spread

    def count_rollout(self, rollout: Rollout, is_missing: bool) -> None:
        """Count one rollout by its end."""
        self.finished += rollout.end is RolloutEnd.FINISHED
        self.capped += rollout.end is RolloutEnd.CAPPED
        self.failed += rollout.end is RolloutEnd.FAILED
        self.rewards_missing += is_missing

    def count_handed_over(self, age: int) -> None:
        """Count one group that the trainer got, `age` versions old."""
        self.handed_over += 1
        self.staleness[age] = self.staleness.get(age, 0) + 1

    def copy(self) -> "CollectorCounts":
        """Return counts that do not change any more."""
        return replace(self, staleness=dict(self.staleness))


class CollectorState(Value):
    """The collector's part of a checkpoint, as JSON.

    Tasks before `position`, and those in `settled`, were handed over or given up; a collector that begins from this state
    begins with the others. What was under way is sampled again.
    """

    policy_version: int = 0
    position: int = 0
    settled: tuple[int, ...] = ()
    counts: CollectorCounts = CollectorCounts()


class SettledPositions:
    """The positions that are done: all before a first one, and some after it."""

    def __init__(self, state: CollectorState) -> None:
        self.first_open = state.position
        self.beyond = set(state.settled)

    def __contains__(self, position: int) -> bool:
        return position < self.first_open or position in self.beyond

    def add(self, position: int) -> None:
        """Settle a position."""
        self.beyond.add(position)
        while self.first_open in self.beyond:
            self.beyond.remove(self.first_open)
            self.first_open += 1
