"""The interface to the workflow service for cycles. `temporal_gateway.py` implements it over Temporal."""

from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from app.domain.errors import Unavailable

NOBODY = "no workflow service works cycles here"


class PlanTimes(NamedTuple):
    """When cycles of a plan start. `cron` is empty for times that were set before it was noted; without a `next_at` they rest."""

    cron: str
    time_zone: str
    next_at: datetime | None


class CycleGateway(Protocol):
    """The protocol that cycles need from the workflow service.

    Raises:
        Unavailable: the workflow service does not answer.
    """

    async def wake_cycle(self, cycle: UUID) -> None:
        """Start a cycle's workflow; an open one is woken instead. Where this fails, workers do it within a minute."""
        ...

    async def find_times(self, plan: str) -> PlanTimes | None:
        """Return when cycles of a plan start; None where nothing is scheduled."""
        ...


class NoCycleGateway:
    """A gateway without a workflow service: what is wished is stored, and waits."""

    async def wake_cycle(self, cycle: UUID) -> None:
        """Refuse with `Unavailable`."""
        raise Unavailable(NOBODY)

    async def find_times(self, plan: str) -> PlanTimes | None:
        """Refuse with `Unavailable`."""
        raise Unavailable(NOBODY)
