"""The work that goes on beside the requests: listening, delivering, timing, tending, sweeping and starting what waits."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeAlias
from uuid import UUID

import asyncpg

from app.collections.service.document_files import DocumentFiles
from app.collections.service.index_owner import IndexService
from app.collections.service.indexing import CollectionTender
from app.database.tenancy import TenantDatabase
from app.domain.errors import RubricaError
from app.idempotency.service import IdempotencyKeys
from app.reports.service.revisions import ReportRevisions
from app.retention.service.sweeping import keep_sweeping
from app.runs.service.gateway import RunGateway
from app.runs.service.live_events import LiveEvents
from app.runs.service.open_streams import OpenStreams
from app.runs.service.runs import Runs
from app.runs.storage.events import EventListener
from app.schedules.service.gateway import ScheduleGateway
from app.schedules.service.schedules import ScheduleSync
from app.webhooks.service.delivery import Deliverer, DeliveryPolicy

Job: TypeAlias = Callable[[], Awaitable[None]]
DISPATCH_EVERY = timedelta(seconds=5)
AFTER_ERROR = timedelta(seconds=30)

log = logging.getLogger(__name__)


class Background:
    """The parts that work for every organisation; the use cases wake them. `trusted` sees all organisations."""

    def __init__(
        self,
        tenants: TenantDatabase,
        trusted: asyncpg.Pool,
        trusted_url: str,
        gateway: RunGateway,
        timing: ScheduleGateway,
        webhook_policy: DeliveryPolicy,
        documents: Path,
        retrieval_url: str | None,
    ) -> None:
        self._trusted = trusted
        self._gateway = gateway
        self.live = LiveEvents(tenants, trusted)
        self.streams = OpenStreams(trusted)
        self.idempotency = IdempotencyKeys(tenants)
        self.deliverer = Deliverer(trusted, webhook_policy)
        self.listener = EventListener(trusted_url, self._pass_on, self.live.read_all_again)
        self.sync = ScheduleSync(trusted, timing)
        self.index = IndexService(retrieval_url)
        self.files = DocumentFiles(documents)
        self.tending = CollectionTender(trusted, self.files, self.index)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Do the work until the context ends; event streams end first."""
        tasks = [asyncio.create_task(_keep_doing(job)) for job in self._list_jobs()]
        try:
            yield
        finally:
            self.live.stop()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _list_jobs(self) -> list[Job]:
        runs = Runs(self._trusted, self._gateway)
        jobs: list[Job] = [
            self.listener.run,
            self.deliverer.run,
            self.sync.keep_syncing,
            self.streams.keep_checking,
            self.idempotency.keep_settling,
            partial(keep_sweeping, self._trusted),
            partial(_keep_dispatching, runs.dispatch),
            partial(_keep_dispatching, ReportRevisions(self._trusted, self._gateway, runs).dispatch),
        ]
        return [*jobs, self.tending.keep_tending] if self.index.configured else jobs

    def _pass_on(self, run_id: UUID, seq: int) -> None:
        """Tell the run's watchers of an event, and let webhooks look for it."""
        self.live.note_growth(run_id, seq)
        self.deliverer.wake()


async def _keep_doing(job: Job) -> None:
    """Do a job until cancelled. An error that it does not expect is logged, and ends it only for a while."""
    while True:
        try:
            await job()
        except Exception:
            log.exception("unexpected error in the background; the work goes on in %s", AFTER_ERROR)
        await asyncio.sleep(AFTER_ERROR.total_seconds())


async def _keep_dispatching(dispatch: Callable[[], Awaitable[int]]) -> None:
    """Start what waits for the workflow service, at regular intervals."""
    while True:
        try:
            if started := await dispatch():
                log.info("%d runs or changes of reports that had waited were started", started)
        except RubricaError as error:
            log.warning("runs or changes of reports wait to be started: %s", error)
        await asyncio.sleep(DISPATCH_EVERY.total_seconds())
