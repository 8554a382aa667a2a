"""Write errors in OpenAI's shape, with the text of our problems.

It stands in front of everything else, so that every refusal (by a guard, the router, a handler) has the same shape.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from litestar.enums import ScopeType
from litestar.openapi import ResponseSpec
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from pydantic import BaseModel, Field

from app.http.problems import MEDIA_TYPE

PREFIX = "/openai/"
TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


class OpenAIError(BaseModel):
    """An error; `message` says what to do about it."""

    message: str
    type: str = Field(examples=["invalid_request_error"])
    param: str | None = Field(default=None, description="The field that is wrong.")
    code: str | None = Field(default=None, description="The kind of problem, as in our own API.")


class OpenAIErrorBody(BaseModel):
    """An error as OpenAI's clients read it."""

    error: OpenAIError


def error_responses(*statuses: int) -> dict[int, ResponseSpec]:
    """Return the errors that this handler may answer with, and those that any handler may."""
    return {
        status: ResponseSpec(OpenAIErrorBody, description=HTTPStatus(status).phrase, generate_examples=False)
        for status in (*statuses, 401, 403, 429, 500, 503)
    }


class OpenAIErrors:
    """An ASGI application in front of another: below `/openai/` its problems become OpenAI's errors."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with OpenAI's errors below `/openai/`."""
        ours = scope["type"] != ScopeType.HTTP or not scope["path"].startswith(PREFIX)
        await self._app(scope, receive, send if ours else _translate_problems(send))


def _translate_problems(send: Send) -> Send:
    """Hold a problem back until it is whole; let everything else pass."""
    held: list[Message] = []
    body = bytearray()

    async def reply(message: Message) -> None:
        if message["type"] == "http.response.start" and _is_problem(message["headers"]):
            held.append(message)
        elif not held:
            await send(message)
        elif message["type"] == "http.response.body":
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                await _send_error(send, held[0], orjson.loads(body))

    return reply


def _is_problem(headers: Any) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(MEDIA_TYPE.encode()) for name, value in headers)


async def _send_error(send: Send, start: Any, problem: Mapping[str, Any]) -> None:
    body = orjson.dumps(OpenAIErrorBody(error=_error_of(problem)).model_dump())
    kept = [(name, value) for name, value in start["headers"] if name.lower() not in (b"content-type", b"content-length")]
    headers = [*kept, (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    start["headers"] = headers
    await send(start)
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _error_of(problem: Mapping[str, Any]) -> OpenAIError:
    status = problem["status"]
    fallback = "server_error" if status >= 500 else "invalid_request_error"
    fields = [error["field"] for error in problem.get("errors", ()) if error.get("field")]
    kind = str(problem["type"]).rpartition(":")[2].replace("-", "_")
    message = problem.get("detail") or problem["title"]
    return OpenAIError(
        message=message, type=TYPES.get(status, fallback), param=fields[0] if fields else None, code=CODES.get(status, kind)
    )
