"""The composition root: every part of the API is put together here and nowhere else."""

from collections.abc import Collection
from typing import Any

import msgspec
from litestar import Litestar
from litestar.di import Provide
from litestar.middleware import DefineMiddleware
from litestar.types import ASGIApp
from pydantic import BaseModel

from app.api import openapi, problems
from app.api.accounts.routes import CONTROLLERS as ACCOUNTS
from app.api.asking import AskingController
from app.api.authentication import Authentication, authorised
from app.api.collections import CollectionsController
from app.api.conditional import Conditional
from app.api.cors import cors
from app.api.deps import ApiRequest, principal_of
from app.api.events import EventsController
from app.api.exports import ExportsController
from app.api.findings import FindingsController
from app.api.guard import LOCAL_HOSTS, Guard
from app.api.health import health
from app.api.idempotency import Idempotency
from app.api.methods import name_all_methods
from app.api.openai.chat import ChatController
from app.api.openai.errors import OpenAIErrors
from app.api.openai.models import ModelsController
from app.api.openai.responses import ResponsesController
from app.api.plans import PlansController
from app.api.preferences.routes import CONTROLLERS as PREFERENCES
from app.api.reports import ReportsController
from app.api.runs import RunsController
from app.api.schedules import SchedulesController, unsubscribe, unsubscribe_page
from app.api.services import Services
from app.api.shares import SharesController, shared
from app.api.side_by_side import SideBySideController
from app.api.steering import SteeringController
from app.api.tools import retrieve, tools
from app.api.versions import VersionsController
from app.api.webhooks import WebhooksController

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
