"""The index owner's JSON over HTTP: bodies, answers, and errors as `{"error": message}` with their status."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import orjson
from aiohttp import web
from pydantic import ValidationError

from app.domain.errors import Conflict, InvalidInput, NotFound, RubricaError, ToolUnavailable
from retrieval.service.still_building import StillBuilding

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
_STATUS: tuple[tuple[type[RubricaError], int], ...] = (
    (NotFound, 404),
    (Conflict, 409),
    (InvalidInput, 400),
    (ToolUnavailable, 503),
    (StillBuilding, 425),
)


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn a handler's errors into answers: 400, 404, 409 or 500; 425 or 503 where the same request may succeed later."""
    try:
        return await handler(request)
    except RubricaError as error:
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
        return answer_json({"error": str(error)}, status, _wish_of(error))
    except (ValidationError, ValueError, TypeError) as error:
        return answer_json({"error": f"the request cannot be understood: {error}"}, status=400)


def _wish_of(error: RubricaError) -> dict[str, str]:
    """Return the header that says when to ask again, if the error does."""
    after = error.retry_after if isinstance(error, ToolUnavailable) else None
    return {"Retry-After": f"{after.total_seconds():.0f}"} if after else {}


async def read_body(request: web.Request) -> dict[str, Any]:
    """Read the sent object; empty for an empty body. Raises `InvalidInput` for anything else."""
    body = orjson.loads(await request.read() or b"{}")
    if not isinstance(body, dict):
        raise InvalidInput("the request's body must be a JSON object")
    return body


def require_text(body: dict[str, Any], name: str) -> str:
    """Return a required text of the body. Raises `InvalidInput` where it is missing or blank."""
    value = body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name!r} is missing or empty")
    return value


def require_texts(value: Any, most: int) -> list[str]:
    """Return a list of 1 to `most` texts. Raises `InvalidInput` for anything else."""
    if not isinstance(value, list) or not 0 < len(value) <= most:
        raise InvalidInput(f"expected a list of 1 to {most} texts")
    if not all(isinstance(text, str) and text.strip() for text in value):
        raise InvalidInput("the texts of a list must not be empty")
    return value


def answer_json(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Answer with content as JSON."""
    return web.Response(body=orjson.dumps(content), status=status, content_type="application/json", headers=headers)
