"""A fleet: one research system over a data set of questions, a window of runs at a time, for hours or days."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from app.domain.query import ResearchQuery
from app.domain.run import RunStatus
from app.domain.value import Value

FLEET_WORKFLOW = "FleetWorkflow"
WAKE = "wake"
"""The signal that tells a fleet's workflow to look again: questions were added, or somebody wishes something."""
MOST_AT_ONCE = 1_000
MOST_ADDED = 500
HISTORY = 2_000
"""After so many events a fleet's workflow continues in a new history. Temporal warns at ten thousand, and ends one at fifty."""


class FleetWish(StrEnum):
    """A wish for a fleet. `pause`: no further run begins, and the runs under way come to their end."""

    GO = "go"
    PAUSE = "pause"
    CANCEL = "cancel"


class FleetQuestion(Value):
    """One question of the data set, under its own name there."""

    name: str = Field(min_length=1, max_length=500)
    query: ResearchQuery


class FleetEnd(Value):
    """The end of one question. `number` counts the ends of a fleet from 1 without gaps, in the order in which they were noticed.

    `run_id` is the run that worked it; None where no run could begin, and `detail` says why.
    """

    number: int
    name: str
    run_id: UUID | None
    status: RunStatus
    detail: str = ""


class Fleet(Value):
    """A fleet as it stands. `at_once` is its window C; `gathered`: no further questions come. `detail` says what it waits for."""

    id: UUID
    at_once: int = Field(ge=1, le=MOST_AT_ONCE)
    wish: FleetWish = FleetWish.GO
    gathered: bool = False
    questions: int = 0
    under_way: int = 0
    ended: int = 0
    detail: str = ""
    created_at: datetime
    ended_at: datetime | None = None


class FleetInput(Value):
    """The input of a fleet's workflow, which continues in a new history after `history` events. All else is in PostgreSQL."""

    fleet_id: UUID
    organisation_id: UUID
    history: int = HISTORY


def fleet_workflow_id(fleet_id: UUID) -> str:
    """Return the Temporal workflow id of a fleet."""
    return f"fleet-{fleet_id}"
