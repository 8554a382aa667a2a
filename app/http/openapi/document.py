"""The OpenAPI document.

Litestar describes the routes; the schemas are pydantic's own, because Litestar's copies lose descriptions, constraints and the
refusal of unknown fields.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from litestar import Request, Router
from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, License, SecurityScheme
from pydantic.json_schema import models_json_schema

from app.accounts.api.cookies import SESSION
from app.accounts.schemas import SCHEMAS as ACCOUNTS
from app.asking import schemas as schemas_asking
from app.asking.nouns import Estimate
from app.collections import schemas as schemas_collections
from app.domain.run import Run, RunEvent
from app.domain.scorecard import Scorecard
from app.http import problems
from app.http.authentication import PUBLIC
from app.http.openapi import examples
from app.http.openapi.details import complete
from app.openai import SCHEMAS as OPENAI
from app.outside.service.pages import Page
from app.preferences.api import SCHEMAS as PREFERENCES
from app.reports import schemas as schemas_reports
from app.runs import schemas
from app.schedules import schemas as schemas_schedules
from app.side_by_side import schemas as schemas_side_by_side
from app.webhooks import schemas as webhook_schemas

VERSION = "0.1.0"
ROOTS = (
    *(
        Run,
        RunEvent,
        problems.Problem,
        schemas.RunPage,
        schemas.NewRun,
        schemas.ReportView,
        schemas.EvidenceView,
        schemas.Resumption,
    ),
    *schemas_reports.ROOTS,
    *(schemas_asking.Clarifications, schemas_asking.DraftedRubric, schemas_asking.EditedRubric, schemas_asking.RubricView),
    *(Estimate, Scorecard),
    *(schemas.NewNote, schemas.AddedNote, schemas.Health, schemas.ToolList, Page),
    *(webhook_schemas.NewWebhook, webhook_schemas.WebhookChange, webhook_schemas.RevealedWebhook),
    *(webhook_schemas.WebhookPage, webhook_schemas.DeliveryPage),
    *OPENAI,
    *(schemas_collections.NewCollection, schemas_collections.CollectionPage, schemas_collections.DocumentPage),
    schemas_collections.ReceivedFiles,
    *(schemas_schedules.NewSchedule, schemas_schedules.ScheduleChange, schemas_schedules.SchedulePage),
    *(schemas_schedules.FiringPage, schemas_schedules.MailDeliveryPage),
    *(schemas_side_by_side.FurtherSystems, schemas_side_by_side.Judged, schemas_side_by_side.SideBySideView),
    *PREFERENCES,
    *ACCOUNTS,
)
KEY = SecurityScheme(type="http", scheme="bearer", description="An API key: `Authorization: Bearer rbk_...`.")
COOKIE = SecurityScheme(type="apiKey", name=SESSION, security_scheme_in="cookie", description="From `POST /v1/session`.")
MAY_ALWAYS = (401, 403, 429, 500, 503)


def config() -> OpenAPIConfig:
    """OpenAPI 3.1 at /schema/openapi.json."""
    return OpenAPIConfig(
        title="Rubrica",
        version=VERSION,
        description="From a question to a cited report. Errors are RFC 9457 problems.",
        license=License(name="Apache-2.0", identifier="Apache-2.0"),
        openapi_router=Router("/schema", route_handlers=[], opt=PUBLIC, include_in_schema=False),
        components=Components(security_schemes={"key": KEY, "session": COOKIE}),
        security=[{"key": []}, {"session": []}],
        render_plugins=[Document()],
        use_handler_docstrings=True,
    )


def problem_responses(*statuses: int) -> dict[int, ResponseSpec]:
    """The problems a handler may answer with, and those any may."""
    return {
        status: ResponseSpec(
            data_container=problems.Problem,
            description=HTTPStatus(status).phrase,
            media_type=problems.MEDIA_TYPE,
            generate_examples=False,
        )
        for status in (*statuses, *MAY_ALWAYS)
    }


class Document(JsonRenderPlugin):
    """Litestar's document with pydantic's schemas and our examples, made once."""

    def __init__(self) -> None:
        super().__init__()
        self._rendered: bytes | None = None

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """The document as JSON."""
        if self._rendered is None:
            described = orjson.loads(self.render_json(request, openapi_schema))
            described["components"]["schemas"] = described_schemas(described["components"]["schemas"])
            complete(described)
            self._rendered = orjson.dumps(described)
        return self._rendered


def described_schemas(named: Mapping[str, Any]) -> dict[str, Any]:
    """Pydantic's schemas for every name the routes refer to, with examples."""
    _, found = models_json_schema([(root, "validation") for root in ROOTS], ref_template="#/components/schemas/{model}")
    given: dict[str, Any] = {**named, **found["$defs"]}
    return {name: {**schema, "examples": examples.OF[name]} if name in examples.OF else schema for name, schema in given.items()}
