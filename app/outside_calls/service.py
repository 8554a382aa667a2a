"""Report what there is to ask with, and the outcome of the caller's calls of each outside service."""

import asyncpg

from app.database.tenancy import get_tenant
from app.domain.served_models import ModelRole
from app.models.storage.resolution import resolve_roles
from app.outside_calls.nouns import Equipment, ToolUse, tool_uses_of
from app.outside_calls.storage import OutsideCallStore

DAYS = 7
WORKING = (ModelRole.PLANNER, ModelRole.SEARCHER, ModelRole.WRITER)


class ToolUseReport:
    """The use case of reading what there is to ask with, and how often each service was called."""

    def __init__(self, database: asyncpg.Pool, equipment: Equipment) -> None:
        self._database = database
        self._store = OutsideCallStore(database)
        self.equipment = equipment

    async def read(self, days: int = DAYS) -> list[ToolUse]:
        """Return every service, and all else that was counted in these days for the organisation that asks.

        Raises:
            Unavailable: the database does not answer.
        """
        return tool_uses_of(await self._store.list_counts(days, get_tenant().organisation), self.equipment.services)

    async def list_models(self) -> tuple[str, ...]:
        """Return the language models that would work a new run of the organisation that asks; none where there is none.

        Raises:
            Unavailable: the database does not answer.
        """
        if not self.equipment.model:
            return ()
        roles = await resolve_roles(self._database, organisation=get_tenant().organisation)
        return tuple(dict.fromkeys(roles.of(role) or self.equipment.model for role in WORKING))
