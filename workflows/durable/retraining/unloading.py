"""Unloading: adapters of versions that never serve again leave their servers when the last run that has them is over."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import asyncpg

from app.domain.errors import ModelUnavailable, RubricaError
from app.domain.served_models import ServedModel
from app.models.storage.unneeded import SETTLED, list_unloadable, mark_ended_gone
from app.settings import Settings
from workflows.chat_models.adapters import unload_adapter
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.durable.served_setup import make_endpoint

LOOK_EVERY = timedelta(minutes=1)
log = logging.getLogger(__name__)


class Unloader:
    """What one worker has unloaded: a server is asked once for each adapter, and again after it did not answer."""

    def __init__(self, database: asyncpg.Pool, endpoint_of: Callable[[ServedModel], ModelEndpoint]) -> None:
        self._database = database
        self._endpoint_of = endpoint_of
        self._done: set[str] = set()

    async def unload_once(self, settled: timedelta = SETTLED) -> None:
        """Mark what has ended as gone, and unload what has been gone for a while."""
        for name in await mark_ended_gone(self._database, settled):
            log.info("the served model %s is gone: its version never serves again, and no run has it", name)
        for model in await list_unloadable(self._database, settled):
            if model.name not in self._done:
                await self._unload(model)

    async def run_forever(self) -> None:
        """Look every minute until cancelled."""
        while True:
            try:
                await self.unload_once()
            except RubricaError as error:
                log.warning("adapters could not be looked through: %s", error)
            except Exception:
                log.exception("unexpected error while adapters were looked through; they are looked through again")
            await asyncio.sleep(LOOK_EVERY.total_seconds())

    async def _unload(self, model: ServedModel) -> None:
        try:
            found = await unload_adapter(self._endpoint_of(model), model.name)
        except ModelUnavailable as away:
            log.warning("%s stays loaded for now: %s", model.name, away)
            return
        self._done.add(model.name)
        if found:
            log.info("%s was unloaded from %s", model.name, model.address)


@contextlib.asynccontextmanager
async def unload_meanwhile(database: asyncpg.Pool, settings: Settings) -> AsyncIterator[None]:
    """Unload what nobody needs any more, while the context lasts."""
    unloader = Unloader(database, lambda model: make_endpoint(model, settings, os.environ))
    unloading = asyncio.create_task(unloader.run_forever())
    try:
        yield
    finally:
        unloading.cancel()
