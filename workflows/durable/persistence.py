"""Writing to PostgreSQL while it may be away. Paid answers stay in memory until they are stored."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.domain.errors import Unavailable
from workflows.durable.policies import DATABASE_FIRST_WAIT, DATABASE_LONGEST_WAIT

T = TypeVar("T")
log = logging.getLogger(__name__)


async def persist(write: Callable[[], Awaitable[T]]) -> T:
    """Repeat `write`, which must be safe to repeat, until the database answers. Only cancellation ends the waiting."""
    wait = DATABASE_FIRST_WAIT
    while True:
        try:
            return await write()
        except Unavailable as away:
            log.warning("%s; trying again", away)
        await asyncio.sleep(wait.total_seconds() * random.uniform(0.5, 1.0))
        wait = min(wait * 2, DATABASE_LONGEST_WAIT)
