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
from app.retention.service.retention import forget_what_is_past
from app.webhooks import storage as webhooks
from app.webhooks.service.delivery import KEPT

SWEEP_EVERY = timedelta(hours=1)

log = logging.getLogger(__name__)


async def keep_swept(trusted: Executor) -> None:
    """Sweep now and every hour, until cancelled. Several processes may do so: each deletes what the others left."""
    while True:
        try:
            await idempotency.sweep(trusted, LIFETIME)
            await webhooks.sweep(trusted, KEPT)
            await rates.sweep(trusted)
            await forget_what_is_past(trusted)
        except (RubricaError, asyncpg.PostgresError) as error:
            log.warning("not all was swept: %s", error)
        await asyncio.sleep(SWEEP_EVERY.total_seconds())
