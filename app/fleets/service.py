"""Run a system over a data set of questions: make a fleet, add questions, read each end, pause and cancel it."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from app.database.engine import Executor
from app.database.tenancy import get_tenant
from app.domain.errors import Conflict, InvalidInput, NotFound
from app.domain.fleets import MOST_ADDED, Fleet, FleetEnd, FleetInput, FleetQuestion, FleetWish
from app.fleets.storage import fleets

ENDS_AT_ONCE = 200


class FleetGateway(Protocol):
    """The protocol that fleets need from the workflow service."""

    async def wake_fleet(self, request: FleetInput) -> None:
        """Start the fleet's workflow; an open one is woken instead.

        Raises:
            Unavailable: the workflow service does not answer; workers start the workflow within a minute of its return.
        """
        ...


class Fleets:
    """The use cases of fleets, for the organisation that this context acts for.

    Raises:
        NotFound: the organisation has no such fleet.
        Unavailable: the database or the workflow service does not answer; repeat the call.
    """

    def __init__(self, database: Executor, gateway: FleetGateway) -> None:
        self._database = database
        self._gateway = gateway

    async def make(self, fleet: UUID, at_once: int) -> Fleet:
        """Make a fleet of this id with a window of `at_once` runs; return the existing one, if there is one."""
        await fleets.make(self._database, fleet, at_once)
        return await self.get(fleet)

    async def get(self, fleet: UUID) -> Fleet:
        """Return the fleet as it stands."""
        found = await fleets.get(self._database, fleet)
        if found is None:
            raise NotFound(f"there is no fleet {fleet}")
        return found

    async def add(self, fleet: UUID, questions: Sequence[FleetQuestion]) -> None:
        """Add a batch of questions, which begin as there is room. A question whose name exists already is left alone.

        Raises:
            InvalidInput: too many at once, a name twice, or a question that would wait for a person's approval.
            Conflict: the fleet takes no more questions.
        """
        if len(questions) > MOST_ADDED:
            raise InvalidInput(f"at most {MOST_ADDED} questions are added at once")
        if len({question.name for question in questions}) != len(questions):
            raise InvalidInput("each question needs a name of its own")
        if waits := next((question.name for question in questions if question.query.approve_plan), None):
            raise InvalidInput(f"nobody is there to approve the plan of {waits!r}; leave `approve_plan` out")
        if not await fleets.add(self._database, fleet, questions):
            await self.get(fleet)
            raise Conflict(f"the fleet {fleet} takes no more questions; make another one")
        await self._wake(fleet)

    async def complete(self, fleet: UUID) -> None:
        """Note that no further questions come: the fleet ends with its last run."""
        if not await fleets.note_gathered(self._database, fleet):
            raise NotFound(f"there is no fleet {fleet}")
        await self._wake(fleet)

    async def list_ends(self, fleet: UUID, after: int = 0, limit: int = ENDS_AT_ONCE) -> Sequence[FleetEnd]:
        """Return up to `limit` questions that have ended, after number `after`."""
        return await fleets.list_ends(self._database, fleet, after, limit)

    async def set_wish(self, fleet: UUID, wish: FleetWish) -> Fleet:
        """Pause the fleet, resume it, or cancel it with the runs under way. Repeating a wish changes nothing.

        Raises:
            Conflict: the fleet has ended, or is being cancelled.
        """
        if not await fleets.set_wish(self._database, fleet, wish):
            found = await self.get(fleet)
            if found.wish is wish:
                return found
            raise Conflict(f"the fleet {fleet} {'has ended' if found.ended_at else 'is being cancelled'}")
        await self._wake(fleet)
        return await self.get(fleet)

    async def _wake(self, fleet: UUID) -> None:
        await self._gateway.wake_fleet(FleetInput(fleet_id=fleet, organisation_id=get_tenant().organisation))
