"""The composition root: every part of the API is put together here and nowhere else."""

from collections.abc import Collection
from typing import Any

import msgspec
from litestar import Litestar
from litestar.di import Provide
from litestar.middleware import DefineMiddleware
from litestar.types import ASGIApp
from pydantic import BaseModel

from app.accounts.api.routes import CONTROLLERS as ACCOUNTS
from app.asking.api import AskingController
from app.collections.api.collections import CollectionsController
from app.exports.api import ExportsController
from app.http import problems
from app.http.authentication import Authentication, authorised
from app.http.conditional import Conditional
from app.http.cors import cors
from app.http.dependencies import ApiRequest, principal_of
from app.http.guard import LOCAL_HOSTS, Guard
from app.http.health import health
from app.http.idempotency.middleware import Idempotency
from app.http.methods import name_all_methods
from app.http.openapi import document as openapi
from app.http.services import Services
from app.openai.chat import ChatController
from app.openai.errors import OpenAIErrors
from app.openai.models import ModelsController
from app.openai.responses import ResponsesController
from app.outside.api import retrieve, tools
from app.preferences.api.routes import CONTROLLERS as PREFERENCES
from app.reports.api.findings import FindingsController
from app.reports.api.reports import ReportsController
from app.reports.api.versions import VersionsController
from app.runs.api.events import EventsController
from app.runs.api.plans import PlansController
from app.runs.api.runs import RunsController
from app.runs.api.steering import SteeringController
from app.schedules.api import SchedulesController, unsubscribe, unsubscribe_page
from app.sharing.api import SharesController, shared
from app.side_by_side.api import SideBySideController
from app.webhooks.api import WebhooksController

MAX_BODY_BYTES = 1_000_000


def create_app(services: Services, allowed_hosts: Collection[str] = LOCAL_HOSTS, origins: Collection[str] = ()) -> ASGIApp:
    """The API as an ASGI application over open services.

    It answers to the names in `allowed_hosts` only. Pages of `origins` (`https://app.example`) may use it from a browser.
    """
    return OpenAIErrors(Guard(routed(services, origins), allowed_hosts, origins, services.accounts.policy.secure))


def routed(services: Services, origins: Collection[str] = ()) -> Litestar:
    """The routes, without what stands before them."""
    return Litestar(
        route_handlers=[
            RunsController,
            AskingController,
            SteeringController,
            PlansController,
            WebhooksController,
            EventsController,
            ReportsController,
            *ACCOUNTS,
            ResponsesController,
            ChatController,
            ModelsController,
            ExportsController,
            VersionsController,
            FindingsController,
            SharesController,
            SideBySideController,
            shared,
            *PREFERENCES,
            health,
            tools,
            retrieve,
            CollectionsController,
            SchedulesController,
            unsubscribe_page,
            unsubscribe,
        ],
        dependencies={
            "research": _given(services.research),
            "asking": _given(services.asking),
            "steering": _given(services.steering),
            "live": _given(services.live),
            "parts": _given(services.parts),
            "use": _given(services.use),
            "pages": _given(services.pages),
            "webhooks": _given(services.webhooks),
            "collections": _given(services.collections),
            "schedules": _given(services.schedules),
            "subscriptions": _given(services.subscriptions),
            "preferences": _given(services.preferences),
            "accounts": _given(services.accounts),
            "principal": Provide(principal_of, sync_to_thread=False),
            "exports": _given(services.exports),
            "revising": _given(services.revising),
            "sharing": _given(services.sharing),
            "side_by_side": _given(services.side_by_side),
            "scores": _given(services.scores),
            "deleting": _given(services.deleting),
        },
        middleware=[
            DefineMiddleware(
                Authentication,
                authenticator=services.authenticator,
                limits=services.accounts.limits,
                streams=services.streams,
            ),
            DefineMiddleware(Idempotency, keys=services.idempotency),
            Conditional,
        ],
        guards=[authorised],
        before_send=[name_all_methods],
        plugins=[problems.plugin()],
        openapi_config=openapi.config(),
        request_class=ApiRequest,
        type_encoders={BaseModel: _as_json},
        request_max_body_size=MAX_BODY_BYTES,
        cors_config=cors(origins) if origins else None,
        logging_config=None,
    )


def _as_json(model: BaseModel) -> msgspec.Raw:
    """Written by pydantic in one go; by default it makes Python values of all of it, which are then written."""
    return msgspec.Raw(model.model_dump_json().encode())


def _given(service: Any) -> Provide:
    return Provide(lambda: service, sync_to_thread=False)
