"""The tree of errors. Each boundary maps this tree once: HTTP in `app/http/problems`, Temporal in `durable/failures`."""

from datetime import timedelta


class RubricaError(Exception):
    """Any error that the product raises on purpose. The message tells the reader what to do."""


class InvalidInput(RubricaError):
    """The caller's input cannot be used (HTTP 400)."""


class Unauthenticated(RubricaError):
    """The caller is unknown, or did not prove who they are (HTTP 401)."""


class Forbidden(RubricaError):
    """The caller's role or key does not allow this (HTTP 403)."""


class TooManyRequests(RubricaError):
    """The caller did more than is allowed in this time (HTTP 429). `retry_after` is the time until there is room again."""

    def __init__(self, message: str, retry_after: timedelta) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class BudgetReached(RubricaError):
    """The run that would pay for this has reached its budget (HTTP 402)."""


class NotFound(RubricaError):
    """The named thing does not exist, or the caller may not see it (HTTP 404)."""


class Conflict(RubricaError):
    """The thing is not in a state that allows this (HTTP 409)."""


class InProgress(Conflict):
    """The same request is being carried out just now (HTTP 409)."""


class Outdated(RubricaError):
    """The thing to change has changed since it was read (HTTP 412)."""


class KeyReused(RubricaError):
    """An idempotency key was sent with another request (HTTP 422)."""


class Unavailable(RubricaError):
    """The database, the workflow service or the artifacts' store does not answer now; it may succeed later (HTTP 503)."""


class SetupError(RubricaError):
    """The machine or its settings stop the product from starting; the message says what to change."""


class ModelError(RubricaError):
    """A language model call failed."""


class ModelUnavailable(ModelError):
    """The model's server has an outage, a time-out or a rate limit, which is worth waiting for.

    `retry_after` is the server's own wish, if it stated one.
    """

    def __init__(self, message: str, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """The server will never answer this request (bad key, unknown model, malformed request)."""


class ModelUnusable(ModelRefused):
    """The server will answer no request at all until a person changes something: its key, its address, the model's name.

    `certain` is false where the same request may still be answered, as after a gateway's page of HTML.
    """

    def __init__(self, message: str, certain: bool = True) -> None:
        super().__init__(message)
        self.certain = certain


class ModelGone(ModelUnusable):
    """The server does not know the model, or does not know it any more; another model may have its role by now."""


class ContextTooLong(ModelRefused):
    """The request is longer than the model's context; the same request in fewer words may be answered."""


class AnswerInvalid(ModelError):
    """The model's answer still lacks the required form after repair and retry.

    The message is for the model and says what to do. `told` is for a reader and says what was wrong; empty: the form was.
    """

    def __init__(self, message: str, told: str = "") -> None:
        super().__init__(message)
        self.told = told


class ToolError(RubricaError):
    """A tool call failed for good; the agent sees the message as an observation."""


class ToolUnavailable(ToolError):
    """The service behind a tool does not answer just now (the index owner restarts), which is worth waiting for.

    `retry_after` is its own wish, if it stated one: then it answers others, and only this call waits.
    """

    retry_after: timedelta | None = None


class SourceUnreadable(RubricaError):
    """A document cannot be read; it is reported and skipped."""
