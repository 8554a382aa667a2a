"""What a list of runs can be narrowed to, and what a run is held to."""

from datetime import date
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from app.domain.rubric import Rubric
from app.domain.run import RunStatus
from app.domain.value import Value


class RunPhase(StrEnum):
    """Runs by what a person can do with them: follow them, decide, read the report, or see what went wrong."""

    UNDER_WAY = "under_way"
    WAITING = "waiting"
    COMPLETED = "completed"
    ENDED = "ended"

    @property
    def statuses(self) -> tuple[RunStatus, ...]:
        """The statuses that belong together."""
        return _STATUSES[self]


_STATUSES = {
    RunPhase.UNDER_WAY: (RunStatus.QUEUED, RunStatus.RUNNING),
    RunPhase.WAITING: (RunStatus.AWAITING_APPROVAL, RunStatus.PAUSED, RunStatus.BUDGET_REACHED),
    RunPhase.COMPLETED: (RunStatus.COMPLETED,),
    RunPhase.ENDED: (RunStatus.FAILED, RunStatus.CANCELLED),
}


class RunFilter(Value):
    """Which runs are listed: those with all `words` in question or report, in this phase, asked on these days by this person.

    Days are those of UTC.
    """

    words: tuple[str, ...] = ()
    phase: RunPhase | None = None
    since: date | None = None
    until: date | None = None
    asked_by: UUID | None = None


class AgreedRubric(NamedTuple):
    """The rubric a run is held to, and the draft it was edited from; None where a person wrote it from nothing."""

    rubric: Rubric
    drafted: Rubric | None = None
