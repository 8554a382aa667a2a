"""Turn the tree of errors into RFC 9457 problems: the one place where an error becomes an HTTP status."""

import logging
import math
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from litestar.exceptions import HTTPException, ValidationException
from litestar.plugins.problem_details import ProblemDetailsConfig, ProblemDetailsException, ProblemDetailsPlugin
from pydantic import BaseModel, Field, ValidationError

from app.domain.errors import (
    BudgetReached,
    Conflict,
    Forbidden,
    InProgress,
    InvalidInput,
    KeyReused,
    NotFound,
    Outdated,
    RubricaError,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
)
from app.http.refused_fields import list_refused_fields

MEDIA_TYPE = "application/problem+json"
HEADERS: Mapping[int, dict[str, str]] = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "2"}}

log = logging.getLogger(__name__)


class FieldError(BaseModel):
    """The fault of one field of the request."""

    field: str
    message: str


class Problem(BaseModel):
    """An error as RFC 9457 describes it. `detail` says what to do about it."""

    type: str = Field(examples=["urn:rubrica:problem:not-found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(default="", examples=["there is no run 6f9619ff-8b86-4d01-b42d-00cf4fc964ff"])
    errors: list[FieldError] = Field(default=[], description="For a request that is malformed: its fields and what is wrong.")


class ProblemKind(NamedTuple):
    """One row of the map: an error's status, and the name and title of its problem."""

    status: int
    name: str
    title: str


KINDS: Mapping[type[RubricaError], ProblemKind] = {
    InvalidInput: ProblemKind(400, "invalid-input", "Invalid input"),
    Unauthenticated: ProblemKind(401, "unauthenticated", "Unauthenticated"),
    BudgetReached: ProblemKind(402, "budget-reached", "The budget is reached"),
    Forbidden: ProblemKind(403, "forbidden", "Forbidden"),
    TooManyRequests: ProblemKind(429, "too-many-requests", "Too many requests"),
    NotFound: ProblemKind(404, "not-found", "Not found"),
    InProgress: ProblemKind(409, "in-progress", "Being carried out"),
    Conflict: ProblemKind(409, "conflict", "Not possible in this state"),
    Outdated: ProblemKind(412, "outdated", "Changed since it was read"),
    KeyReused: ProblemKind(422, "key-reused", "Idempotency key reused"),
    Unavailable: ProblemKind(503, "unavailable", "Unavailable"),
}
UNEXPECTED = ProblemKind(500, "unexpected", "Unexpected error")


def problem_type(name: str) -> str:
    """Return the URI that names a kind of problem."""
    return f"urn:rubrica:problem:{name}"


def plugin() -> ProblemDetailsPlugin:
    """Return the plugin that turns every error, foreseen or not, into a problem."""
    to_problem: dict[type[Any], Callable[[Any], ProblemDetailsException]] = {
        RubricaError: _from_domain,
        HTTPException: _from_http,
        Exception: _from_bug,
    }
    return ProblemDetailsPlugin(ProblemDetailsConfig(exception_to_problem_detail_map=to_problem))


def _from_domain(error: RubricaError) -> ProblemDetailsException:
    kind = next((KINDS[base] for base in type(error).__mro__ if base in KINDS), None)
    if kind is None:
        return _from_bug(error)
    headers = HEADERS.get(kind.status)
    if isinstance(error, TooManyRequests):
        headers = {"Retry-After": str(max(math.ceil(error.retry_after.total_seconds()), 1))}
    return _make_problem(kind, str(error), headers=headers)


def _from_http(error: HTTPException) -> ProblemDetailsException:
    if isinstance(error, ValidationException):
        return _from_validation(error)
    phrase = HTTPStatus(error.status_code).phrase
    kind = ProblemKind(error.status_code, phrase.lower().replace(" ", "-"), phrase)
    if error.status_code >= 500:
        return _from_bug(error)
    return _make_problem(kind, error.detail, headers=error.headers)


def _from_validation(error: ValidationException) -> ProblemDetailsException:
    refused = error.__cause__ and error.__cause__.__cause__
    if isinstance(refused, ValidationError):
        errors = list_refused_fields(refused)
    else:
        given = error.extra if isinstance(error.extra, list) else []
        errors = [{"field": _field_of(item), "message": _message_of(item)} for item in given]
    reasons = [f"{item['field']}: {item['message']}" if item["field"] else item["message"] for item in errors]
    return _make_problem(KINDS[InvalidInput], "; ".join(reasons) or error.detail, errors=errors)


def _field_of(item: Any) -> str:
    return str(item.get("key", "")) if isinstance(item, Mapping) else ""


def _message_of(item: Any) -> str:
    return str(item.get("message", item)) if isinstance(item, Mapping) else str(item)


def _from_bug(error: Exception) -> ProblemDetailsException:
    """Log all of the error; the client learns nothing about the inside."""
    log.error("unexpected error while answering a request", exc_info=error)
    return _make_problem(UNEXPECTED, "something went wrong here, not in your request; the log of the server says what")


def _make_problem(
    kind: ProblemKind, detail: str, errors: list[dict[str, str]] | None = None, headers: dict[str, str] | None = None
) -> ProblemDetailsException:
    return ProblemDetailsException(
        status_code=kind.status,
        type_=problem_type(kind.name),
        title=kind.title,
        detail=detail,
        extra={"errors": errors} if errors else None,
        headers=headers,
    )
