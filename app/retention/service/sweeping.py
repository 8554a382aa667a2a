"""Delete what is kept only for a time, at regular intervals."""

import asyncio
import logging
from datetime import timedelta

import asyncpg

from app.database.engine import Executor
from app.domain.errors import RubricaError
from app.idempotency import storage as idempotency
from app.idempotency.service import LIFETIME
from app.quotas.storage import rates
from app.retention.service.retention import delete_past
from app.retention.storage import look_at_clock
from app.webhooks import storage as webhooks
from app.webhooks.service.delivery import KEEP_FOR

SWEEP_EVERY = timedelta(hours=1)

log = logging.getLogger(__name__)


async def keep_sweeping(trusted: Executor) -> None:
    """Sweep now and every hour, until cancelled. Several processes may do so: each deletes what the others left."""
    while True:
        try:
            await look_at_clock(trusted)
            await idempotency.sweep(trusted, LIFETIME)
            await webhooks.sweep(trusted, KEEP_FOR)
            await rates.sweep(trusted)
            await delete_past(trusted)
        except (RubricaError, asyncpg.PostgresError) as error:
            log.warning("not all was swept: %s", error)
        await asyncio.sleep(SWEEP_EVERY.total_seconds())
