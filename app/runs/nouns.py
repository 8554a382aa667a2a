"""What a list of runs can be narrowed to, what a run is held to, and what its model calls were for."""

from collections.abc import Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from pydantic import Field

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


class Purpose(StrEnum):
    """What a model call was for. Reading is finding evidence; re-reading is going over the written report beside it."""

    PLANNING = "planning"
    READING = "reading"
    WRITING = "writing"
    REREADING = "rereading"
    JUDGING = "judging"
    OTHER = "other"

    @classmethod
    def of_step(cls, step: str) -> "Purpose":
        """Return the purpose of a step, by the name that the run's log has for it."""
        return _PURPOSES.get(step, cls.OTHER)


_STEPS: Mapping[Purpose, tuple[str, ...]] = {
    Purpose.PLANNING: ("intent", "plan", "second_round", "rubric"),
    Purpose.READING: ("act", "finding", "react_digest", "markov_search", "markov_state"),
    Purpose.WRITING: (
        "outline",
        "section",
        "single_pass",
        "react_report",
        "markov_report",
        "markov_last",
        "rewrite",
        "follow_up",
    ),
    Purpose.REREADING: ("critique", "consistency", "revision"),
    Purpose.JUDGING: ("support", "criteria"),
}
_PURPOSES = {step: purpose for purpose, steps in _STEPS.items() for step in steps}


class StepUsage(NamedTuple):
    """What all calls of one step of a run used."""

    step: str
    model_calls: int
    input_tokens: int
    output_tokens: int
    cost_microusd: int


class PurposeUsage(Value):
    """A run's model calls for one purpose, and what they used. Cost is in millionths of a US dollar."""

    purpose: Purpose
    model_calls: int = Field(ge=0)
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    cost_microusd: int = Field(ge=0)


def sum_purposes(steps: Sequence[StepUsage]) -> Sequence[PurposeUsage]:
    """Add up the steps of each purpose. Purposes come in their order; those without a call are left out."""
    groups = {purpose: [step for step in steps if Purpose.of_step(step.step) is purpose] for purpose in Purpose}
    return [
        PurposeUsage(
            purpose=purpose,
            model_calls=sum(step.model_calls for step in group),
            input_tokens=sum(step.input_tokens for step in group),
            output_tokens=sum(step.output_tokens for step in group),
            cost_microusd=sum(step.cost_microusd for step in group),
        )
        for purpose, group in groups.items()
        if group
    ]
