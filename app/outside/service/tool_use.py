"""Which services outside are on, and how the calls of each went for whoever asks."""

import asyncpg

from app.database.tenancy import acting
from app.outside.nouns import ToolUse, tool_uses
from app.outside.storage import OutsideStore

DAYS = 7


class ToolUseReport:
    """The services there are, with their counts. `on` names those that are configured."""

    def __init__(self, database: asyncpg.Pool, on: frozenset[str]) -> None:
        self._store = OutsideStore(database)
        self._on = on

    async def read(self, days: int = DAYS) -> list[ToolUse]:
        """Every service, and whatever else was counted in these days for the organisation that asks.

        Raises:
            Unavailable: the database does not answer.
        """
        return tool_uses(await self._store.counted(days, acting().organisation), self._on)
