"""What the use cases around schedules need from the workflow service. `schedule_gateway.py` speaks to Temporal."""

from typing import Protocol
from uuid import UUID

from app.domain.errors import Unavailable
from app.domain.schedules import Timing


class ScheduleGateway(Protocol):
    """Holds the timing of schedules.

    Raises:
        Unavailable: it does not answer now.
    """

    async def put(self, schedule: UUID, timing: Timing, paused: bool) -> None:
        """Make a schedule as it should be, whether it is there or not."""
        ...

    async def trigger(self, schedule: UUID) -> None:
        """Ask once, now."""
        ...

    async def remove(self, schedule: UUID) -> None:
        """Take a schedule away, if it is there."""
        ...


class NoTiming:
    """Where nothing holds it: schedules are kept, and wait."""

    async def put(self, schedule: UUID, timing: Timing, paused: bool) -> None:
        """Never."""
        raise Unavailable("no workflow service holds schedules here")

    async def trigger(self, schedule: UUID) -> None:
        """Never."""
        raise Unavailable("no workflow service holds schedules here")

    async def remove(self, schedule: UUID) -> None:
        """Never."""
        raise Unavailable("no workflow service holds schedules here")
