"""The one place where errors become Temporal failures and back."""

from datetime import timedelta

from temporalio.exceptions import ActivityError, ApplicationError, ApplicationErrorCategory

from app.domain.contract import Halt
from app.domain.errors import RubricaError

HALTED = "StageHalted"
FAILED = "StageFailed"
STOPPING = "WorkerStopping"
AGAIN_SOON = timedelta(milliseconds=100)


class RunHalted(BaseException):
    """A stage must stop here and keep everything. It is no `Exception`, so that no agent takes it for its own failure."""

    def __init__(self, halt: Halt, reason: str = "") -> None:
        super().__init__(halt.value)
        self.halt = halt
        self.reason = reason


class WorkerStopping(BaseException):
    """This worker is about to end; the stage goes on elsewhere from its stored turns."""


class StageHalted(Exception):
    """A stage came to a halt on purpose; the workflow sees this error."""

    def __init__(self, halt: Halt, reason: str = "") -> None:
        super().__init__(halt.value)
        self.halt = halt
        self.reason = reason


def make_halted_failure(halt: Halt, reason: str = "") -> ApplicationError:
    """Return the failure of a halt. Temporal must not retry it, the workflow decides; it is benign, so not logged as an error."""
    message = f"halted: {halt.value}"
    return ApplicationError(
        message, halt.value, reason, type=HALTED, non_retryable=True, category=ApplicationErrorCategory.BENIGN
    )


def make_final_failure(error: BaseException) -> ApplicationError:
    """Return the failure of a stage that failed for good."""
    return ApplicationError(str(error) or type(error).__name__, type=FAILED, non_retryable=True)


def is_final(error: ApplicationError) -> bool:
    """Say whether an error means that a stage failed for good."""
    return error.type == FAILED


def make_stopping_failure() -> ApplicationError:
    """Return the only failure that asks Temporal to retry, on a worker that stays."""
    message = "this worker is stopping"
    return ApplicationError(message, type=STOPPING, next_retry_delay=AGAIN_SOON, category=ApplicationErrorCategory.BENIGN)


def make_refusal(error: RubricaError | ValueError) -> ApplicationError:
    """Return the failure of a refused command. Another exception in an update handler would retry the workflow task for ever."""
    return ApplicationError(str(error), type=type(error).__name__, non_retryable=True)


def halt_in(error: ActivityError) -> StageHalted | None:
    """Return the halt that an activity's failure carries, if any. Failures of older versions carry no reason."""
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type == HALTED and cause.details:
        halt, *reason = cause.details
        return StageHalted(Halt(halt), *reason)
    return None


def reason_in(error: ActivityError) -> str:
    """Return why an activity failed, for a reader."""
    cause = error.cause or error
    return str(getattr(cause, "message", "") or cause)
