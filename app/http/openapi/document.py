"""Build the OpenAPI document.

Litestar describes the routes. The schemas are pydantic's own, because Litestar's copies lose descriptions, constraints and the
refusal of unknown fields.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

import orjson
from litestar import Request, Router
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, License, SecurityScheme
from litestar.routes import BaseRoute, HTTPRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.accounts.api.cookies import SESSION_COOKIE
from app.domain.run import RunEvent
from app.http.authentication import PUBLIC
from app.http.openapi import examples
from app.http.openapi.route_defaults import complete_operations
from app.openai.chat_objects import ChatChunk
from app.openai.objects import StreamEvent

VERSION = "0.1.0"
# The models that streams carry: no route's signature names them.
STREAMED: tuple[type[BaseModel], ...] = (RunEvent, StreamEvent, ChatChunk)
KEY = SecurityScheme(type="http", scheme="bearer", description="An API key: `Authorization: Bearer rbk_...`.")
COOKIE = SecurityScheme(type="apiKey", name=SESSION_COOKIE, security_scheme_in="cookie", description="From `POST /v1/session`.")


def config() -> OpenAPIConfig:
    """Return the settings of OpenAPI 3.1 at /schema/openapi.json."""
    return OpenAPIConfig(
        title="Rubrica",
        version=VERSION,
        description="From a question to a cited report. Errors are RFC 9457 problems.",
        license=License(name="Apache-2.0", identifier="Apache-2.0"),
        openapi_router=Router("/schema", route_handlers=[], opt=PUBLIC, include_in_schema=False),
        components=Components(security_schemes={"key": KEY, "session": COOKIE}),
        security=[{"key": []}, {"session": []}],
        render_plugins=[OpenAPIDocument()],
        use_handler_docstrings=True,
    )


class OpenAPIDocument(JsonRenderPlugin):
    """Litestar's document with pydantic's schemas and our examples, rendered once."""

    def __init__(self) -> None:
        super().__init__()
        self._rendered: bytes | None = None

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the document as JSON."""
        if self._rendered is None:
            described = orjson.loads(self.render_json(request, openapi_schema))
            schemas = described["components"]["schemas"]
            described["components"]["schemas"] = describe_schemas(schemas, models_of(request.app.routes))
            complete_operations(described)
            self._rendered = orjson.dumps(described)
        return self._rendered


def models_of(routes: Iterable[BaseRoute]) -> Iterator[type[BaseModel]]:
    """Yield the models that routes take and return."""
    for route in routes:
        for handler in route.route_handlers if isinstance(route, HTTPRoute) else ():
            signature = handler.parsed_fn_signature
            yield from _models_in(signature.return_type.raw)
            if "data" in signature.parameters:
                yield from _models_in(signature.parameters["data"].raw)
            for response in (handler.responses or {}).values():
                yield from _models_in(response.data_container)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


def describe_schemas(named: Mapping[str, Any], models: Iterable[type[BaseModel]]) -> dict[str, Any]:
    """Return pydantic's schema, with an example where we have one, for every name that the routes refer to."""
    roots: Sequence[type[BaseModel]] = list(dict.fromkeys((*models, *STREAMED)))
    _, found = models_json_schema([(root, "validation") for root in roots], ref_template="#/components/schemas/{model}")
    given: dict[str, Any] = {**named, **found["$defs"]}
    return {name: {**schema, "examples": examples.OF[name]} if name in examples.OF else schema for name, schema in given.items()}
