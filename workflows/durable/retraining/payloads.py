"""What travels between a cycle's workflow and its activity: ids, and what to do next."""

from enum import StrEnum
from uuid import UUID

from app.domain.value import Value

ADVANCE_CYCLE, BEGIN_CYCLE = "advance_cycle", "begin_cycle"


class CycleMove(StrEnum):
    """The next thing for the workflow: it goes on, waits until somebody wakes it, or ends."""

    BUSY = "busy"
    IDLE = "idle"
    OVER = "over"


class PlannedCycle(Value):
    """The firing of a schedule: the stored plan, and the id of the cycle that it is to begin."""

    plan: str
    cycle_id: UUID
