"""What the handlers stand on: opened before the first request, closed after the last."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from app.domain.errors import RubricaError
from app.services.gateway import RunGateway
from app.services.health import Parts
from app.services.live_events import LiveEvents
from app.services.pages import Pages
from app.services.research import Research
from app.services.steering import Steering
from app.services.tool_use import ToolUseReport
from app.storage.engine import connect
from app.storage.events import Listener

DISPATCH_EVERY = timedelta(seconds=5)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Services:
    """The use cases, and the parts they stand on."""

    research: Research
    steering: Steering
    live: LiveEvents
    parts: Parts
    use: ToolUseReport
    pages: Pages


@asynccontextmanager
async def open_services(
    database_url: str, gateway: RunGateway, services_on: frozenset[str] = frozenset(), retrieval_url: str | None = None
) -> AsyncIterator[Services]:
    """The pool, the one listening connection and the dispatcher of waiting runs, for as long as the context lasts.

    `services_on` are the services outside that are configured; `retrieval_url` is the index's address.

    Raises:
        SetupError: the database cannot be used, or its schema is another than this version needs.
    """
    pool = await connect(database_url)
    live = LiveEvents(pool)
    listener = Listener(database_url, live.heard, live.gap)
    research = Research(pool, gateway)
    services = Services(
        research,
        Steering(pool, gateway, research),
        live,
        Parts(pool, gateway, listener),
        ToolUseReport(pool, services_on),
        Pages(retrieval_url),
    )
    tasks: list[asyncio.Task[None]] = []
    try:
        await services.parts.database()
        tasks += [asyncio.create_task(listener.run()), asyncio.create_task(_dispatch(research.dispatch))]
        yield services
    finally:
        live.stop()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await pool.close()


async def _dispatch(dispatch: Callable[[], Awaitable[int]]) -> None:
    """Start what waits for the workflow service, now and again."""
    while True:
        try:
            if started := await dispatch():
                log.info("%d runs that had waited were started", started)
        except RubricaError as error:
            log.warning("runs wait to be started: %s", error)
        await asyncio.sleep(DISPATCH_EVERY.total_seconds())
