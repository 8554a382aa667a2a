"""Read and set how long data is kept, and delete what is older."""

import logging

from app.audit import storage as audit
from app.audit.storage import Action
from app.database.engine import Executor
from app.database.tenancy import TenantDatabase, get_tenant
from app.retention import storage as retention
from app.retention.nouns import Retention

RUNS_AT_ONCE = 100
"""The number of runs deleted in one statement: locks stay short, and far below a statement's time limit."""

log = logging.getLogger(__name__)


class Retentions:
    """The settings of the organisation that asks.

    Raises:
        Unavailable: the database does not answer.
    """

    def __init__(self, tenants: TenantDatabase) -> None:
        self._tenants = tenants

    async def read(self) -> Retention:
        """Return the days after which each kind of data is deleted."""
        return await retention.get(self._tenants, get_tenant().organisation)

    async def set(self, wanted: Retention) -> Retention:
        """Replace all settings. They take effect with the next sweep, within the hour, and a day late: see `settled_now`."""
        async with self._tenants.acquire() as connection:
            await retention.set_(connection, wanted)
            told = {name: str(days) for name, days in wanted.model_dump(exclude_none=True).items()}
            await audit.record(connection, Action.RETENTION_CHANGED, detail=told)
        return wanted


async def delete_past(trusted: Executor) -> dict[str, int]:
    """Delete data that was past its time a day ago; return how many rows of each kind. The work can be cut off anywhere and
    repeated.

    Raises:
        Unavailable: the database does not answer.
    """
    gone: dict[str, int] = {}
    for what in retention.STATEMENTS:
        while done := await retention.forget(trusted, what, RUNS_AT_ONCE):
            gone[what] = gone.get(what, 0) + done
            if what not in retention.BATCHED:
                break
    if gone:
        log.info("past its time and deleted: %s", ", ".join(f"{count} {what}" for what, count in gone.items()))
    return gone
