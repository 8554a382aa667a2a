"""What travels between a fleet's workflow and its activity."""

from enum import StrEnum
from uuid import UUID

from app.domain.contract import ResearchInput
from app.domain.value import Value

ADVANCE_ACTIVITY = "fleet_advance"


class Advance(Value):
    """Move a fleet on. `started`: runs whose workflows were started since; `told`: runs that were told to finish or to end."""

    fleet_id: UUID
    started: tuple[UUID, ...] = ()
    told: tuple[UUID, ...] = ()


class State(StrEnum):
    """What becomes of the workflow: it goes on, waits until it is woken, or ends."""

    BUSY = "busy"
    IDLE = "idle"
    OVER = "over"


class Step(Value):
    """What the workflow has to do: start these runs, have those finish with what there is, cancel those."""

    state: State
    starts: tuple[ResearchInput, ...] = ()
    finish: tuple[UUID, ...] = ()
    cancel: tuple[UUID, ...] = ()
