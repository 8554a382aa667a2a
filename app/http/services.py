"""What the handlers stand on: opened before the first request, closed after the last."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from app.accounts.service.authentication import Authenticator
from app.accounts.service.desk import Accounts
from app.accounts.service.policy import DEFAULTS, AccountPolicy
from app.asking.service.asking import Asking
from app.collections.service.collections import Collections
from app.collections.service.document_files import DocumentFiles
from app.collections.service.index_owner import IndexService
from app.collections.service.tending import CollectionTending
from app.comparisons.service.offers import Offers
from app.database.engine import connect
from app.database.roles import refuse_bypass
from app.database.tenancy import TenantDatabase
from app.domain.errors import RubricaError
from app.domain.pricing import PricedModel
from app.domain.query import SystemName
from app.exports.service import Exports
from app.exports.service.conversion import Conversions
from app.http.parts import Parts
from app.idempotency.service import IdempotencyKeys
from app.outside.service.pages import Pages
from app.outside.service.tool_use import ToolUseReport
from app.preferences.service.use_cases import Preferences, preferences
from app.reports.service.revising import Revising
from app.retention.service.sweeping import keep_swept
from app.runs.service.deletion import Deleting
from app.runs.service.gateway import RunGateway
from app.runs.service.live_events import LiveEvents
from app.runs.service.open_streams import OpenStreams
from app.runs.service.research import AVAILABLE, Research
from app.runs.service.steering import Steering
from app.runs.storage.events import Listener
from app.schedules.service.gateway import NoTiming, ScheduleGateway
from app.schedules.service.schedules import Schedules, ScheduleSync, Subscriptions
from app.sharing.service import Sharing
from app.side_by_side.service.later_scores import LaterScores
from app.side_by_side.service.side_by_side import SideBySides
from app.webhooks.service.delivery import Deliverer, Policy
from app.webhooks.service.webhooks import Webhooks

NO_TIMING = NoTiming()
DOCUMENTS = Path("documents")
DISPATCH_EVERY = timedelta(seconds=5)
POLICY = Policy()

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Services:
    """The use cases, and the parts they stand on."""

    research: Research
    asking: Asking
    steering: Steering
    live: LiveEvents
    parts: Parts
    use: ToolUseReport
    pages: Pages
    authenticator: Authenticator
    exports: Exports
    revising: Revising
    sharing: Sharing
    idempotency: IdempotencyKeys
    webhooks: Webhooks
    collections: Collections
    schedules: Schedules
    subscriptions: Subscriptions
    preferences: Preferences
    accounts: Accounts
    streams: OpenStreams
    side_by_side: SideBySides
    scores: LaterScores
    deleting: Deleting


@asynccontextmanager
async def open_services(
    database_url: str,
    trusted_url: str,
    gateway: RunGateway,
    services_on: frozenset[str] = frozenset(),
    retrieval_url: str | None = None,
    systems: Sequence[SystemName] = AVAILABLE,
    model: PricedModel | None = None,
    webhook_policy: Policy = POLICY,
    documents: Path = DOCUMENTS,
    timing: ScheduleGateway = NO_TIMING,
    offers: Offers | None = None,
    accounts_policy: AccountPolicy = DEFAULTS,
) -> AsyncIterator[Services]:
    """The pools, the one listening connection and the dispatcher of waiting runs, for as long as the context lasts.

    Requests use `database_url`, whose role sees one organisation at a time. What is done for nobody in particular, or before it
    is known for whom, uses `trusted_url`. `services_on` are the services outside that are configured; `retrieval_url` is the
    index's address, `systems` those that can be asked for; `model` is the one that runs ask, for estimates. `documents` is the
    folder that the index reads own documents from, and `timing` what holds the times of schedules; `offers` is what reports
    can be written with.

    Raises:
        SetupError: the database cannot be used, its schema is another than this version needs, or its role sees too much.
    """
    async with await connect(database_url) as pool, await connect(trusted_url, setting="RUBRICA_WORKER_DATABASE_URL") as trusted:
        tenants = TenantDatabase(pool)
        live = LiveEvents(tenants, trusted)
        deliverer = Deliverer(trusted, webhook_policy)
        listener = Listener(trusted_url, _hearing(live, deliverer), live.gap)
        accounts = Accounts.over(tenants, trusted, accounts_policy)
        research = Research(tenants, gateway, systems, accounts.limits.begin_run)
        steering = Steering(tenants, gateway, research)
        index, files = IndexService(retrieval_url), DocumentFiles(documents)
        tending = CollectionTending(trusted, files, index)
        sync = ScheduleSync(trusted, timing)
        asking = Asking(tenants, gateway, research, model, accounts.limits.begin_spending)
        beside = SideBySides(tenants, research)
        everybodys = Research(trusted, gateway)
        services = Services(
            research=research,
            asking=asking,
            steering=steering,
            live=live,
            parts=Parts(trusted, gateway, listener),
            use=ToolUseReport(trusted, services_on),
            pages=Pages(index),
            authenticator=Authenticator(trusted, accounts_policy),
            exports=Exports(Conversions()),
            revising=Revising(tenants, gateway, research, accounts.limits.begin_spending),
            sharing=Sharing(tenants, trusted, research),
            idempotency=IdempotencyKeys(tenants),
            webhooks=Webhooks(tenants, deliverer),
            collections=Collections(tenants, trusted, files, index, tending.wake),
            schedules=Schedules(tenants, timing, sync.wake),
            subscriptions=Subscriptions(trusted),
            preferences=preferences(tenants, research, steering, offers),
            accounts=accounts,
            streams=OpenStreams(trusted),
            side_by_side=beside,
            scores=LaterScores(tenants, gateway, asking, beside, accounts.limits.begin_spending),
            deleting=Deleting(tenants),
        )
        await services.parts.database()
        await refuse_bypass(pool)
        jobs = [
            listener.run(),
            deliverer.run(),
            sync.keep(),
            services.streams.keep(),
            keep_swept(trusted),
            _dispatch(everybodys.dispatch),
            _dispatch(Revising(trusted, gateway, everybodys).dispatch),
            *([tending.keep()] if index.configured else []),
        ]
        async with _working(jobs):
            try:
                yield services
            finally:
                live.stop()


def _hearing(live: LiveEvents, deliverer: Deliverer) -> Callable[[UUID, int], None]:
    """Streams hear of an event, and webhooks are looked at."""

    def heard(run_id: UUID, seq: int) -> None:
        live.heard(run_id, seq)
        deliverer.wake()

    return heard


@asynccontextmanager
async def _working(jobs: Iterable[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """What goes on beside the requests, until the context ends."""
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _dispatch(dispatch: Callable[[], Awaitable[int]]) -> None:
    """Start what waits for the workflow service, now and again."""
    while True:
        try:
            if started := await dispatch():
                log.info("%d runs or changes of reports that had waited were started", started)
        except RubricaError as error:
            log.warning("runs or changes of reports wait to be started: %s", error)
        await asyncio.sleep(DISPATCH_EVERY.total_seconds())
