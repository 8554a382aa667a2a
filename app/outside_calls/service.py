"""Report which outside services are on, and the outcome of the caller's calls of each."""

import asyncpg

from app.database.tenancy import get_tenant
from app.domain.options import SourceKind
from app.outside_calls.nouns import ToolUse, tool_uses_of
from app.outside_calls.storage import OutsideCallStore

DAYS = 7


class ToolUseReport:
    """The use case of reading the services, with their counts.

    `on` names those that are configured; `searchable` are the kinds of sources that runs can search.
    """

    def __init__(self, database: asyncpg.Pool, on: frozenset[str], searchable: frozenset[SourceKind]) -> None:
        self._store = OutsideCallStore(database)
        self._on = on
        self.searchable = tuple(kind for kind in SourceKind if kind in searchable)

    async def read(self, days: int = DAYS) -> list[ToolUse]:
        """Return every service, and all else that was counted in these days for the organisation that asks.

        Raises:
            Unavailable: the database does not answer.
        """
        return tool_uses_of(await self._store.list_counts(days, get_tenant().organisation), self._on)
