"""The periodic tasks of an entrance: to hand over its counts, and to sweep the shared store."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from app.domain.errors import Unavailable
from retrieval.outside.entrance import Entrance

HAND_OVER_EVERY = timedelta(seconds=2)
SWEEP_EVERY = timedelta(minutes=10)

log = logging.getLogger(__name__)


@asynccontextmanager
async def tend(entrance: Entrance) -> AsyncIterator[Entrance]:
    """Run the entrance's periodic tasks while the context is open, and hand over its last counts at the end."""

    async def hand_over() -> None:
        await entrance.meter.hand_over(entrance.shared.count)

    tasks = [
        asyncio.create_task(_repeat(HAND_OVER_EVERY, hand_over)),
        asyncio.create_task(_repeat(SWEEP_EVERY, entrance.shared.sweep)),
    ]
    try:
        yield entrance
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await hand_over()


async def _repeat(every: timedelta, work: Callable[[], Awaitable[object]]) -> None:
    while True:
        await asyncio.sleep(every.total_seconds())
        try:
            await work()
        except Unavailable as error:
            log.warning("what outside calls share is not swept: %s", error)
