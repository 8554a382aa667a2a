"""Errors as vLLM tells them, and who may ask."""

import hmac
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from aiohttp import web
from aiohttp.typedefs import Middleware

from app.domain.errors import Forbidden, InvalidInput, ModelRefused, NotFound, RubricaError, Unauthenticated
from retrieval.service.json_http import answer_json

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
_KINDS: tuple[tuple[type[RubricaError], int, str], ...] = (
    (Unauthenticated, 401, "AuthenticationError"),
    (Forbidden, 403, "PermissionDeniedError"),
    (NotFound, 404, "NotFoundError"),
    (InvalidInput, 400, "BadRequestError"),
    (ModelRefused, 400, "BadRequestError"),
)


def describe_error(error: RubricaError) -> tuple[int, dict[str, Any]]:
    """Return the status and the body of an error."""
    kinds = ((status, name) for kind, status, name in _KINDS if isinstance(error, kind))
    status, name = next(kinds, (500, "InternalServerError"))
    return status, _write(str(error), name, status)


@web.middleware
async def errors_as_vllm(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn errors into answers."""
    try:
        return await handler(request)
    except RubricaError as error:
        status, body = describe_error(error)
        return answer_json(body, status)
    except web.HTTPException as error:
        return answer_json(_write(error.text or error.reason, "BadRequestError", error.status), error.status)


def guard(key: str) -> Middleware:
    """Return what lets only those in who have the key; without a key, everybody. No web page may ask.

    A browser tells the page that asks (`Origin`), and any page may send requests to an address of this machine.
    """

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if "Origin" in request.headers:
            raise Forbidden("web pages may not ask this server")
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if key and request.path.startswith("/v1/") and not hmac.compare_digest(given.encode(), key.encode()):
            raise Unauthenticated("Unauthorized")
        return await handler(request)

    return check


def _write(message: str, kind: str, status: int) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": status}}
