"""Problems that routes may answer with, for the OpenAPI document."""

from http import HTTPStatus

from litestar.openapi import ResponseSpec

from app.http import problems

ALWAYS_POSSIBLE = (401, 403, 429, 500, 503)


def problem_responses(*statuses: int) -> dict[int, ResponseSpec]:
    """Return the problems that this handler may answer with, and those that any handler may."""
    return {
        status: ResponseSpec(
            data_container=problems.Problem,
            description=HTTPStatus(status).phrase,
            media_type=problems.MEDIA_TYPE,
            generate_examples=False,
        )
        for status in (*statuses, *ALWAYS_POSSIBLE)
    }
