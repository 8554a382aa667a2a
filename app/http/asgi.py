"""The composition root: every part of the API is put together here and nowhere else."""

from collections.abc import Collection
from dataclasses import fields
from typing import Any

import msgspec
from litestar import Litestar
from litestar.config.cors import CORSConfig
from litestar.di import Provide
from litestar.middleware import DefineMiddleware
from litestar.types import ASGIApp, ControllerRouterHandler, Middleware
from pydantic import BaseModel

from app.accounts.api.keys import KeysController
from app.accounts.api.oidc import OidcController
from app.accounts.api.sessions import SessionsController
from app.accounts.api.team import InvitationsController, MembersController
from app.asking.api import AskingController
from app.audit.api import AuditController
from app.collections.api.collections import CollectionsController
from app.collections.api.index_pages import retrieve
from app.comparisons.api import ComparisonsController
from app.exports.api import ExportsController
from app.http import problems
from app.http.answer_headers import name_all_methods
from app.http.authentication import Authentication, require_scope
from app.http.broken_off import BrokenOff
from app.http.conditional import ConditionalAnswers
from app.http.dependencies import ApiRequest, principal_of
from app.http.guard import LOCAL_HOSTS, HostGuard
from app.http.health import health
from app.http.openapi import document as openapi
from app.http.services import Services
from app.idempotency.api import Idempotency
from app.models.api.cycles import CyclesController
from app.models.api.registry import RegistryController
from app.openai.chat import ChatController
from app.openai.errors import OpenAIErrors
from app.openai.input_items import InputItemsController
from app.openai.models import ModelsController
from app.openai.responses import ResponsesController
from app.outside_calls.api import tools
from app.preferences.api.annotations import AnnotationsController
from app.preferences.api.feedback import FeedbackController
from app.preferences.api.summary import PreferencesController
from app.quotas.api import LimitsController
from app.reports.api.findings import FindingsController
from app.reports.api.reports import ReportsController
from app.reports.api.versions import VersionsController
from app.retention.api import RetentionController
from app.runs.api.events import EventsController
from app.runs.api.plans import PlansController
from app.runs.api.runs import RunsController
from app.runs.api.steering import SteeringController
from app.schedules.api import SchedulesController, unsubscribe, unsubscribe_page
from app.sharing.api import SharesController, shared
from app.side_by_side.api import SideBySideController
from app.webhooks.api import WebhooksController

MAX_BODY_BYTES = 1_000_000
# The response headers that pages of other sites may read.
EXPOSED_HEADERS = ["ETag", "Location", "Retry-After", "X-Request-ID", "Idempotency-Replayed", "RateLimit-Policy", "RateLimit"]
ROUTES: tuple[ControllerRouterHandler, ...] = (
    RunsController,
    EventsController,
    PlansController,
    SteeringController,
    AskingController,
    SideBySideController,
    ReportsController,
    VersionsController,
    FindingsController,
    ExportsController,
    SharesController,
    shared,
    ComparisonsController,
    FeedbackController,
    AnnotationsController,
    PreferencesController,
    CollectionsController,
    SchedulesController,
    RegistryController,
    CyclesController,
    unsubscribe_page,
    unsubscribe,
    WebhooksController,
    SessionsController,
    MembersController,
    InvitationsController,
    KeysController,
    OidcController,
    LimitsController,
    RetentionController,
    AuditController,
    ResponsesController,
    InputItemsController,
    ChatController,
    ModelsController,
    health,
    tools,
    retrieve,
)


def create_app(services: Services, allowed_hosts: Collection[str] = LOCAL_HOSTS, origins: Collection[str] = ()) -> ASGIApp:
    """Return the API as an ASGI application over open services.

    It answers to the names in `allowed_hosts` only. Pages of `origins` (`https://app.example`) may use it from a browser.
    """
    routes = BrokenOff(build_routes(services, origins))
    return OpenAIErrors(HostGuard(routes, allowed_hosts, origins, services.accounts.policy.secure))


def build_routes(services: Services, origins: Collection[str] = ()) -> Litestar:
    """Return the routes, without the middleware that stands before the application."""
    return Litestar(
        route_handlers=ROUTES,
        dependencies=_provide_services(services),
        middleware=_list_middleware(services),
        guards=[require_scope],
        before_send=[name_all_methods],
        plugins=[problems.plugin()],
        openapi_config=openapi.config(),
        request_class=ApiRequest,
        type_encoders={BaseModel: _as_json},
        request_max_body_size=MAX_BODY_BYTES,
        cors_config=_cors_config_of(origins) if origins else None,
        logging_config=None,
    )


def _provide_services(services: Services) -> dict[str, Provide]:
    """Provide each service to handlers under its name, and the caller as `principal`."""
    named = {field.name: _provide(getattr(services, field.name)) for field in fields(Services)}
    return {**named, "principal": Provide(principal_of, sync_to_thread=False)}


def _provide(service: Any) -> Provide:
    return Provide(lambda: service, sync_to_thread=False)


def _list_middleware(services: Services) -> list[Middleware]:
    return [
        DefineMiddleware(
            Authentication, authenticator=services.authenticator, limits=services.accounts.limits, streams=services.streams
        ),
        DefineMiddleware(Idempotency, keys=services.idempotency),
        ConditionalAnswers,
    ]


def _cors_config_of(origins: Collection[str]) -> CORSConfig:
    """Return the settings for pages of these origins: they may send keys of their own, but never cookies."""
    return CORSConfig(allow_origins=list(origins), allow_credentials=False, expose_headers=EXPOSED_HEADERS, max_age=3_600)


def _as_json(model: BaseModel) -> msgspec.Raw:
    """Write a model by pydantic's own JSON; by default all of it becomes Python values first."""
    return msgspec.Raw(model.model_dump_json().encode())
