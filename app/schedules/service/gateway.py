"""The interface to the workflow service for schedules. `temporal_gateway.py` implements it over Temporal."""

from typing import Protocol
from uuid import UUID

from app.domain.errors import Unavailable
from app.domain.schedules import Timing


class ScheduleGateway(Protocol):
    """The protocol that holds the timing of schedules.

    Raises:
        InvalidInput: the workflow service refuses this timing.
        Unavailable: the workflow service does not answer now.
    """

    async def put(self, schedule: UUID, timing: Timing, paused: bool) -> None:
        """Create or update a schedule."""
        ...

    async def trigger(self, schedule: UUID) -> None:
        """Ask once, now."""
        ...

    async def remove(self, schedule: UUID) -> None:
        """Delete a schedule, if it exists."""
        ...


class NoScheduleGateway:
    """A gateway without a workflow service: schedules are stored, and wait."""

    async def put(self, schedule: UUID, timing: Timing, paused: bool) -> None:
        """Refuse with `Unavailable`."""
        raise Unavailable("no workflow service holds schedules here")

    async def trigger(self, schedule: UUID) -> None:
        """Refuse with `Unavailable`."""
        raise Unavailable("no workflow service holds schedules here")

    async def remove(self, schedule: UUID) -> None:
        """Refuse with `Unavailable`."""
        raise Unavailable("no workflow service holds schedules here")
