"""What travels between a fleet's workflow and its activity."""

from enum import StrEnum
from uuid import UUID

from app.domain.contract import ResearchInput
from app.domain.value import Value

ADVANCE_ACTIVITY = "fleet_advance"


class FleetAdvance(Value):
    """A request to move a fleet on. `started`: runs whose workflows started since; `told`: runs told to finish or to end."""

    fleet_id: UUID
    started: tuple[UUID, ...] = ()
    told: tuple[UUID, ...] = ()


class FleetState(StrEnum):
    """The next step of the workflow: it goes on, waits until it is woken, or ends."""

    BUSY = "busy"
    IDLE = "idle"
    OVER = "over"


class FleetStep(Value):
    """The workflow's next tasks: the runs to start, to finish early and to cancel."""

    state: FleetState
    starts: tuple[ResearchInput, ...] = ()
    finish: tuple[UUID, ...] = ()
    cancel: tuple[UUID, ...] = ()
