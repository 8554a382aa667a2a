"""The course of a canary: how many runs each arm had, how many of them failed, and how readers' votes stood day by day."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from app.database.engine import Executor
from app.domain.model_versions import Canary
from app.models.storage.canary_observations import TimedObservation, list_timed
from app.statistics.arm_comparison import Arm
from app.statistics.beta_mixture import rate_interval
from app.statistics.canary import ServedRun, Vote


class Traffic(NamedTuple):
    """The runs of an arm, and those of them that failed."""

    runs: int
    failed: int


class VotesByDay(NamedTuple):
    """All votes until the end of a day: those that the candidate won, its rate, and the rates that they do not contradict."""

    day: date
    votes: int
    won: int
    rate: float
    low: float
    high: float


class CanaryCourse(NamedTuple):
    """What was seen of a canary so far."""

    canary: Canary
    traffic: Mapping[Arm, Traffic]
    votes: Sequence[VotesByDay]


async def follow_canary(database: Executor, canary: Canary) -> CanaryCourse:
    """Return what was seen of a canary, until its end where it has ended."""
    seen = await list_timed(database, canary)
    runs = [each.seen for each in seen if isinstance(each.seen, ServedRun)]
    traffic = {
        arm: Traffic(sum(run.arm is arm for run in runs), sum(run.arm is arm and run.failed for run in runs)) for arm in Arm
    }
    return CanaryCourse(canary, traffic, count_by_day(seen))


def count_by_day(seen: Sequence[TimedObservation]) -> list[VotesByDay]:
    """Return how the votes stood after each day (UTC) on which readers chose. Ties are no votes for either arm."""
    won, found = Counter[Arm](), dict[date, VotesByDay]()
    for at, each in seen:
        if isinstance(each, Vote) and each.winner is not None:
            won[each.winner] += 1
            wins, losses = won[Arm.CANARY], won[Arm.STABLE]
            found[at.date()] = VotesByDay(at.date(), wins + losses, wins, *rate_interval(wins, losses))
    return list(found.values())
