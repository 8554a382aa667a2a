"""Check whether each part answers."""

from app.database.engine import Executor, translate_outages
from app.database.schema import require_schema
from app.disk import Disks
from app.domain.errors import Unavailable
from app.runs.service.gateway import RunGateway
from app.runs.storage.events import EventListener


class PartChecks:
    """The parts that the API needs. Each check returns, or raises with what is wrong.

    Raises:
        Unavailable: the part does not answer now.
        SetupError: it answers, but needs something done.
    """

    def __init__(self, database: Executor, gateway: RunGateway, listener: EventListener, disks: Disks) -> None:
        self._database = database
        self._gateway = gateway
        self._listener = listener
        self._disks = disks

    async def check_database(self) -> None:
        """Check that the database answers, and that this code works with its schema."""
        async with translate_outages():
            await require_schema(self._database)

    async def check_workflows(self) -> None:
        """Check that the workflow service answers."""
        await self._gateway.check()

    async def check_workers(self) -> str:
        """Check that a worker lives, where any has reported itself; return a remark on those that are silent."""
        return await self._gateway.check_workers()

    async def check_events(self) -> None:
        """Check that the listening connection is open."""
        if not self._listener.connected:
            raise Unavailable("not connected; event streams catch up when the connection is back")

    async def check_disk(self) -> None:
        """Check that the disks of home and documents have room."""
        await self._disks.require_room()
