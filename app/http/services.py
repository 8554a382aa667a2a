"""The services that handlers use: opened before the first request, closed after the last."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import asyncpg

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.accounts.service.accounts import Accounts
from app.accounts.service.authentication import Authenticator
from app.accounts.service.policy import DEFAULT_POLICY, AccountPolicy
from app.asking.service.asking import Asking
from app.collections.service.collections import Collections
from app.collections.service.index_pages import Pages
from app.collections.service.suggestions import Suggestions
from app.comparisons.service.offers import Offers
from app.database.engine import connect
from app.database.roles import refuse_bypass
from app.database.tenancy import TenantDatabase
from app.disk import Disks
from app.domain.options import SourceKind
from app.domain.pricing import PricedModel
from app.domain.query import SystemName
from app.domain.served_models import ServedModel
from app.exports.service import Exports
from app.exports.service.conversion import Conversions
from app.http.background import Background
from app.http.part_checks import PartChecks
from app.idempotency.service import IdempotencyKeys
from app.models.service.cycle_gateway import CycleGateway, NoCycleGateway
from app.models.service.cycles import Cycles
from app.models.service.operation import Operation
from app.models.service.scheduled_plans import ScheduledPlans
from app.models.service.serving import register_settings
from app.models.service.standings import Standings
from app.openai.details import KeptDetails
from app.outgoing.model_check import ModelCheck
from app.outside_calls.nouns import Equipment
from app.outside_calls.service import ToolUseReport
from app.preferences.service.preferences import Preferences, make_preferences
from app.preferences.service.pseudonyms import KEY_FILE
from app.reports.service.revisions import ReportRevisions
from app.runs.service.deletion import RunDeletion
from app.runs.service.gateway import RunGateway
from app.runs.service.live_events import LiveEvents
from app.runs.service.open_streams import OpenStreams
from app.runs.service.runs import ALL_SYSTEMS, Runs
from app.runs.service.steering import Steering
from app.schedules.service.gateway import NoScheduleGateway, ScheduleGateway
from app.schedules.service.schedules import Schedules, Subscriptions
from app.sharing.service import Sharing
from app.side_by_side.service.later_scores import LaterScores
from app.side_by_side.service.side_by_side import SideBySides
from app.webhooks.service.delivery import DeliveryPolicy
from app.webhooks.service.webhooks import Webhooks

NO_TIMING, NO_CYCLES = NoScheduleGateway(), NoCycleGateway()
DOCUMENTS, LOOP = Path("documents"), Path("loop")
POLICY = DeliveryPolicy()
TRUSTED = "RUBRICA_WORKER_DATABASE_URL"


@dataclass(frozen=True)
class RunServices:
    """The use cases around runs: asking, following, steering and deleting them."""

    runs: Runs
    asking: Asking
    steering: Steering
    side_by_side: SideBySides
    scores: LaterScores
    deleting: RunDeletion
    live: LiveEvents
    streams: OpenStreams
    response_details: KeptDetails


@dataclass(frozen=True)
class ReportServices:
    """The use cases around finished reports."""

    exports: Exports
    revisions: ReportRevisions
    sharing: Sharing
    preferences: Preferences


@dataclass(frozen=True)
class SourceServices:
    """The use cases around what runs search and read."""

    collections: Collections
    pages: Pages
    suggestions: Suggestions
    use: ToolUseReport


@dataclass(frozen=True)
class NotificationServices:
    """The use cases around schedules, their mails, and webhooks."""

    schedules: Schedules
    subscriptions: Subscriptions
    webhooks: Webhooks


@dataclass(frozen=True)
class ModelServices:
    """The use cases around trained models: what serves, what the operator does about it, and the cycles that train."""

    standings: Standings
    operation: Operation
    cycles: Cycles
    plans: ScheduledPlans


@dataclass(frozen=True)
class RequestServices:
    """The parts that every request passes, whatever it asks for."""

    accounts: Accounts
    authenticator: Authenticator
    idempotency: IdempotencyKeys
    parts: PartChecks


@dataclass(frozen=True)
class Services(RunServices, ReportServices, SourceServices, NotificationServices, ModelServices, RequestServices):
    """All services. Handlers take each of them under the name of its field."""


@asynccontextmanager
async def open_services(
    database_url: str,
    trusted_url: str,
    gateway: RunGateway,
    services_on: frozenset[str] = frozenset(),
    searchable: frozenset[SourceKind] = frozenset(SourceKind),
    retrieval_url: str | None = None,
    systems: Sequence[SystemName] = ALL_SYSTEMS,
    model: PricedModel | None = None,
    webhook_policy: DeliveryPolicy = POLICY,
    documents: Path = DOCUMENTS,
    timing: ScheduleGateway = NO_TIMING,
    offers: Offers | None = None,
    accounts_policy: AccountPolicy = DEFAULT_POLICY,
    model_check: ModelCheck | None = None,
    disks: Disks | None = None,
    serving: Sequence[ServedModel] = (),
    operator: UUID = LOCAL_ORGANISATION,
    key_file: Path = Path(KEY_FILE),
    cycle_gateway: CycleGateway = NO_CYCLES,
    loop: Path = LOOP,
) -> AsyncIterator[Services]:
    """Open the pools, the listening connection and the background work, for as long as the context lasts.

    Requests use `database_url`, whose role sees one organisation at a time. Work for no particular organisation, and work before
    the organisation is known, uses `trusted_url`. `services_on` are the configured outside services, `searchable` the
    kinds of sources that there are; `retrieval_url` is the index's address; `systems` are those that can be asked for; `model`
    is the one that runs use, for estimates. `documents` is the folder from which the index reads own documents; `timing` holds
    the times of schedules; `offers` are the models and ways that reports can be written with; `model_check` says whether the
    model takes requests; on full `disks` (default: that of the documents) nothing new is begun; `serving` are the
    settings' models, of which the first has each role that nobody has moved; the admins of `operator` may move roles, and
    `key_file` has the key of the pseudonyms of exports. `cycle_gateway` starts cycles of retraining, whose folder is `loop`.

    Raises:
        SetupError: the database cannot be used, its schema is another than this version needs, or its role sees too much.
    """
    async with (
        await connect(database_url) as pool,
        await connect(trusted_url, setting=TRUSTED) as trusted,
        # Its own: in the queue of the other pool, the question whether the database answers waits for every other question.
        await connect(trusted_url, largest=1, setting=TRUSTED) as asked_for_health,
    ):
        tenants, disks = TenantDatabase(pool), disks or Disks({"documents": documents})
        accounts = Accounts.new(tenants, trusted, accounts_policy)
        sends_mail = accounts_policy.mailbox is not None
        equipment = Equipment(services_on, searchable, tuple(systems), model.name if model else "", sends_mail)
        runs = Runs(tenants, gateway, systems, accounts.limits.check_run, model_check, disks)
        background = Background(tenants, trusted, trusted_url, gateway, timing, webhook_policy, documents, retrieval_url)
        run_services = _make_run_services(tenants, gateway, runs, accounts, model, background)
        services = Services(
            **vars(run_services),
            **vars(_make_report_services(tenants, trusted, gateway, run_services, accounts, offers)),
            **vars(_make_source_services(tenants, trusted, background, equipment, disks)),
            **vars(_make_notification_services(tenants, trusted, background, timing, equipment)),
            standings=Standings(tenants, trusted, key_file),
            operation=Operation(trusted, operator),
            cycles=Cycles(trusted, loop, cycle_gateway),
            plans=ScheduledPlans(trusted, loop, cycle_gateway),
            **vars(_make_request_services(trusted, asked_for_health, gateway, accounts, background, disks)),
        )
        await services.parts.check_database()
        await refuse_bypass(pool)
        await register_settings(trusted, serving)
        async with background.run():
            yield services


def _make_run_services(
    tenants: TenantDatabase,
    gateway: RunGateway,
    runs: Runs,
    accounts: Accounts,
    model: PricedModel | None,
    background: Background,
) -> RunServices:
    begin_spending = accounts.limits.check_spending
    asking, side_by_side = Asking(tenants, gateway, runs, model, begin_spending), SideBySides(tenants, runs)
    return RunServices(
        runs=runs,
        asking=asking,
        steering=Steering(tenants, gateway, runs),
        side_by_side=side_by_side,
        scores=LaterScores(tenants, gateway, asking, side_by_side, begin_spending),
        deleting=RunDeletion(tenants),
        live=background.live,
        streams=background.streams,
        response_details=KeptDetails(tenants),
    )


def _make_report_services(
    tenants: TenantDatabase,
    trusted: asyncpg.Pool,
    gateway: RunGateway,
    run_services: RunServices,
    accounts: Accounts,
    offers: Offers | None,
) -> ReportServices:
    return ReportServices(
        exports=Exports(Conversions()),
        revisions=ReportRevisions(tenants, gateway, run_services.runs, accounts.limits.check_spending),
        sharing=Sharing(tenants, trusted, run_services.runs),
        preferences=make_preferences(tenants, run_services.runs, run_services.steering, offers),
    )


def _make_source_services(
    tenants: TenantDatabase,
    trusted: asyncpg.Pool,
    background: Background,
    equipment: Equipment,
    disks: Disks,
) -> SourceServices:
    return SourceServices(
        collections=Collections(tenants, trusted, background.files, background.index, background.tending.wake, disks),
        pages=Pages(background.index),
        suggestions=Suggestions(tenants, background.index, equipment.searchable),
        use=ToolUseReport(trusted, equipment),
    )


def _make_notification_services(
    tenants: TenantDatabase, trusted: asyncpg.Pool, background: Background, timing: ScheduleGateway, equipment: Equipment
) -> NotificationServices:
    return NotificationServices(
        schedules=Schedules(tenants, timing, background.sync.wake, sends_mail=equipment.sends_mail),
        subscriptions=Subscriptions(trusted),
        webhooks=Webhooks(tenants, background.deliverer),
    )


def _make_request_services(
    trusted: asyncpg.Pool,
    asked_for_health: asyncpg.Pool,
    gateway: RunGateway,
    accounts: Accounts,
    background: Background,
    disks: Disks,
) -> RequestServices:
    return RequestServices(
        accounts=accounts,
        authenticator=Authenticator(trusted, accounts.policy),
        idempotency=background.idempotency,
        parts=PartChecks(asked_for_health, gateway, background.listener, disks),
    )
