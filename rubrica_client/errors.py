"""The tree of errors: a class for each kind of refusal, made from the API's problems (RFC 9457), and for missing answers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Self

import httpx2
from pydantic import ValidationError

from rubrica_client.models import FieldError, Problem


class ApiError(Exception):
    """An error between a client and the API. The message tells the reader what to do.

    `title` says what happened, `detail` says more; `status` is the HTTP status, 0 if no answer came. `type` names the kind of
    problem, `errors` the refused fields of the request.
    """

    def __init__(self, title: str, detail: str = "", status: int = 0, type: str = "", errors: Sequence[FieldError] = ()) -> None:
        super().__init__(detail or title)
        self.title = title
        self.detail = detail
        self.status = status
        self.type = type
        self.errors = tuple(errors)
        self.retry_after: timedelta | None = None

    @classmethod
    def of(cls, problem: Problem, retry_after: timedelta | None = None) -> Self:
        """Make the error from a problem; `retry_after` is the time after which the API wants the request again."""
        error = cls(problem.title, problem.detail, problem.status, problem.type, problem.errors)
        error.retry_after = retry_after
        return error


class InvalidInput(ApiError):
    """An error for input that cannot be used (HTTP 400, and every 4xx without a class of its own)."""


class Unauthenticated(ApiError):
    """An error for a missing, wrong, revoked or expired key (HTTP 401)."""


class BudgetReached(ApiError):
    """An error for a run that has used up its budget (HTTP 402)."""


class Forbidden(ApiError):
    """An error for something that the role or the key does not allow (HTTP 403)."""


class NotFound(ApiError):
    """An error for something that does not exist, or not for this caller (HTTP 404)."""


class Conflict(ApiError):
    """An error for something whose state does not allow this (HTTP 409)."""


class InProgress(Conflict):
    """An error for a request that the API is carrying out already: its answer is ready in a moment (HTTP 409)."""


class Outdated(ApiError):
    """An error for a change to something that has changed since it was read (HTTP 412)."""


class KeyReused(ApiError):
    """An error for an idempotency key that was used with another request (HTTP 422)."""


class TooManyRequests(ApiError):
    """An error for a limit that is reached (HTTP 429). `retry_after` says when there is room again."""


class ServerError(ApiError):
    """A failure of the API (HTTP 5xx); its log says more."""

    def __str__(self) -> str:
        """Return the message with the status."""
        return f"the API failed ({self.status}): {self.detail or self.title}; its log says more"


class Unavailable(ServerError):
    """A temporary failure of the API (HTTP 502, 503, 504). `retry_after` says when to try again, if the API said so."""


class Unreachable(ApiError):
    """A missing or cut answer: nothing listens at the address, which is the `detail`, or the connection broke."""

    def __str__(self) -> str:
        """Return the message with the address and the network's error."""
        return f"the API at {self.detail} does not answer: {self.__cause__ or type(self.__cause__).__name__}"


class TimedOut(Unreachable):
    """A missing answer: none came in time."""


class BrokenOff(Unreachable):
    """A stream of events that was cut, or was silent for too long."""


class Unreadable(ApiError):
    """An answer that this client cannot read: perhaps another program answers there."""

    def __str__(self) -> str:
        """Return the message with what is wrong with the answer."""
        return f"{self.title}: {self.detail}"


class RunStopped(ApiError):
    """The end of a run without a report, or its wait for a person. `status_of_run` says where it stands."""

    def __init__(self, run_id: str, status_of_run: str, detail: str) -> None:
        super().__init__("There is no report", f"run {run_id} is {status_of_run}" + (f": {detail}" if detail else ""))
        self.status_of_run = status_of_run


IN_PROGRESS = "urn:rubrica:problem:in-progress"
UNREADABLE = "The API gave an answer that cannot be read"
OF_STATUS: Mapping[int, type[ApiError]] = {
    401: Unauthenticated,
    402: BudgetReached,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Outdated,
    422: KeyReused,
    429: TooManyRequests,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def refusal(response: httpx2.Response) -> ApiError:
    """Return the error for an answer without success, whether its body is a problem or not. The body must have been read."""
    try:
        problem = Problem.model_validate_json(response.content, extra="ignore")
    except ValidationError:
        problem = Problem(type="", title=response.reason_phrase or "The API refused", status=response.status_code)
    kind = OF_STATUS.get(response.status_code, ServerError if response.status_code >= 500 else InvalidInput)
    kind = InProgress if problem.type == IN_PROGRESS else kind
    seconds = response.headers.get("Retry-After", "")
    return kind.of(problem, timedelta(seconds=int(seconds)) if seconds.isdigit() else None)


@contextmanager
def network_errors(address: str, *, streaming: bool = False) -> Iterator[None]:
    """Raise network failures as errors of this tree; `streaming` says that an answer had begun.

    Raises:
        Unreachable: no answer came, or not all of it.
        Unreadable: the answer is no stream of events where one was asked for.
    """
    try:
        yield
    except httpx2.SSEError as error:
        raise Unreadable(UNREADABLE, str(error)) from error
    except httpx2.RequestError as error:
        raise _error_of(address, error, streaming) from error


def _error_of(address: str, error: httpx2.RequestError, streaming: bool) -> Unreachable:
    if streaming:
        return BrokenOff("The event stream broke off", address)
    if isinstance(error, httpx2.TimeoutException):
        return TimedOut("The API did not answer in time", address)
    return Unreachable("The API cannot be reached", address)
