"""The OpenAPI document."""

from http import HTTPStatus

from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import License

from app.api.problems import MEDIA_TYPE, Problem

VERSION = "0.1.0"


def config() -> OpenAPIConfig:
    """OpenAPI 3.1 at /schema/openapi.json."""
    return OpenAPIConfig(
        title="Rubrica",
        version=VERSION,
        description="From a question to a cited report. Errors are RFC 9457 problems.",
        license=License(name="Apache-2.0", identifier="Apache-2.0"),
        path="/schema",
        render_plugins=[JsonRenderPlugin()],
        use_handler_docstrings=True,
    )


def problems(*statuses: int) -> dict[int, ResponseSpec]:
    """The problems a handler may answer with, besides those any may (405, 500, 503)."""
    return {
        status: ResponseSpec(
            data_container=Problem, description=HTTPStatus(status).phrase, media_type=MEDIA_TYPE, generate_examples=False
        )
        for status in (*statuses, 503)
    }
