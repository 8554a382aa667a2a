"""The tree of errors: one class a kind of refusal, made from the API's problems (RFC 9457), and those without an answer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Self

import httpx2
from pydantic import ValidationError

from rubrica_client.models import FieldError, Problem


class ApiError(Exception):
    """What went wrong between a client and the API. The message tells the reader what to do.

    `title` says what happened, `detail` more of it; `status` is the HTTP status, 0 where no answer came. `type` names the kind
    of problem, `errors` the fields of the request that were refused.
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
        """Make the error from a problem; `retry_after` is when the API wants the request again."""
        error = cls(problem.title, problem.detail, problem.status, problem.type, problem.errors)
        error.retry_after = retry_after
        return error


class InvalidInput(ApiError):
    """What was sent cannot be used (HTTP 400, and every 4xx without a class of its own)."""


class Unauthenticated(ApiError):
    """There is no key, or a wrong, revoked or ended one (HTTP 401)."""


class BudgetReached(ApiError):
    """The run that this would be billed to has used up its budget (HTTP 402)."""


class Forbidden(ApiError):
    """The role or the key does not allow this (HTTP 403)."""


class NotFound(ApiError):
    """There is no such thing, or not for this caller (HTTP 404)."""


class Conflict(ApiError):
    """The thing is not in a state that allows this (HTTP 409)."""


class InProgress(Conflict):
    """The same request is being carried out just now: its answer can be had in a moment (HTTP 409)."""


class Outdated(ApiError):
    """What was to be changed has changed since it was read (HTTP 412)."""


class KeyReused(ApiError):
    """The idempotency key was sent with another request before (HTTP 422)."""


class TooManyRequests(ApiError):
    """A limit is reached (HTTP 429). `retry_after` says when there is room again."""


class ServerError(ApiError):
    """The API failed (HTTP 5xx); its log says more."""

    def __str__(self) -> str:
        """The message names the status."""
        return f"the API failed ({self.status}): {self.detail or self.title}; its log says more"


class Unavailable(ServerError):
    """The API cannot answer now, and may later (HTTP 502, 503, 504). `retry_after` says when to ask again, if it said so."""


class Unreachable(ApiError):
    """No answer came, or not all of it: nothing listens at the address, which is the `detail`, or the connection was cut."""

    def __str__(self) -> str:
        """The message names the address and what the network said."""
        return f"the API at {self.detail} does not answer: {self.__cause__ or type(self.__cause__).__name__}"


class TimedOut(Unreachable):
    """No answer came in time."""


class BrokenOff(Unreachable):
    """A stream of events was cut, or fell silent for too long."""


class Unreadable(ApiError):
    """An answer came that this client cannot read: perhaps something else answers there."""

    def __str__(self) -> str:
        """The message says also what is wrong with the answer."""
        return f"{self.title}: {self.detail}"


class RunStopped(ApiError):
    """A run ended without a report, or waits for a person. `status_of_run` says where it stands."""

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
    """Return the error that an answer without success stands for, be its body a problem or not. The body has been read."""
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
    """Raise what the network does wrong as errors of this tree; `streaming` says that an answer had begun to come.

    Raises:
        Unreachable: no answer came, or not all of it.
        Unreadable: the answer is no stream of events where one was asked for.
    """
    try:
        yield
    except httpx2.SSEError as error:
        raise Unreadable(UNREADABLE, str(error)) from error
    except httpx2.RequestError as error:
        raise _silence(address, error, streaming) from error


def _silence(address: str, error: httpx2.RequestError, streaming: bool) -> Unreachable:
    if streaming:
        return BrokenOff("The event stream broke off", address)
    if isinstance(error, httpx2.TimeoutException):
        return TimedOut("The API did not answer in time", address)
    return Unreachable("The API cannot be reached", address)
