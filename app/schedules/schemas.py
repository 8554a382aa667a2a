"""Request and response bodies of schedules."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from app.domain.deliveries import MailDelivery
from app.domain.schedules import MAX_RECIPIENTS, Firing, Schedule, Timing
from app.http.plain_text import PLAIN
from app.runs.schemas import NewRun

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=150), PLAIN]
Address = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=3, max_length=254, pattern=r"^[^\s<>,;]+@[^\s<>,;]+$")
]
Recipients = Annotated[tuple[Address, ...], Field(max_length=MAX_RECIPIENTS, description="Members who get mail about changes.")]


class NewSchedule(BaseModel):
    """A question to ask again: a new one in `run`, or in `from_run` a finished run, whose report is compared with first."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    run: NewRun | None = None
    from_run: UUID | None = None
    timing: Timing
    deliver_to: Recipients = ()

    @model_validator(mode="after")
    def _check_one_question(self) -> "NewSchedule":
        if (self.run is None) == (self.from_run is None):
            raise ValueError("give either `run`, a new question, or `from_run`, a run to repeat")
        return self


class ScheduleChange(BaseModel):
    """A change of a schedule; fields that are left out stay."""

    model_config = ConfigDict(extra="forbid")

    name: Name | None = None
    timing: Timing | None = None
    deliver_to: Recipients | None = None
    paused: bool | None = None


class SchedulePage(BaseModel):
    """One page of schedules, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[Schedule]
    next: UUID | None = None


class FiringPage(BaseModel):
    """One page of askings, latest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[Firing]
    next: datetime | None = None


class MailDeliveryPage(BaseModel):
    """One page of messages, latest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[MailDelivery]
    next: UUID | None = None
