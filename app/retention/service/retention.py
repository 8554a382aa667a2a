"""How long things are kept: what organisations say, and the sweep that does it."""

import logging

from app.audit import storage as audit
from app.audit.storage import Action
from app.database.engine import Executor
from app.database.tenancy import TenantDatabase, acting
from app.retention import storage as retention
from app.retention.nouns import Retention

AT_ONCE = 100
"""Runs whose rows go in one statement: locks are short, and a statement's time limit is far away."""

log = logging.getLogger(__name__)


class Retentions:
    """The settings of the organisation that asks.

    Raises:
        Unavailable: the database does not answer.
    """

    def __init__(self, tenants: TenantDatabase) -> None:
        self._tenants = tenants

    async def read(self) -> Retention:
        """What is deleted after how long."""
        return await retention.get(self._tenants, acting().organisation)

    async def set(self, wanted: Retention) -> Retention:
        """Replace all of it. It takes effect with the next sweep, within the hour."""
        async with self._tenants.acquire() as connection:
            await retention.set_(connection, wanted)
            told = {name: str(days) for name, days in wanted.model_dump(exclude_none=True).items()}
            await audit.record(connection, Action.RETENTION_CHANGED, detail=told)
        return wanted


async def forget_what_is_past(trusted: Executor) -> dict[str, int]:
    """Delete what organisations do not want kept any longer; how many rows of what. It can be cut off anywhere and repeated.

    Raises:
        Unavailable: the database does not answer.
    """
    gone: dict[str, int] = {}
    for what in retention.STATEMENTS:
        while done := await retention.forget(trusted, what, AT_ONCE):
            gone[what] = gone.get(what, 0) + done
            if what not in retention.BATCHED:
                break
    if gone:
        log.info("past its time and deleted: %s", ", ".join(f"{count} {what}" for what, count in gone.items()))
    return gone
