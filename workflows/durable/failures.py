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
    """A stage must stop here and keep everything. Not an `Exception`, so that no agent takes it for a failure of its own."""

    def __init__(self, halt: Halt) -> None:
        super().__init__(halt.value)
        self.halt = halt


class WorkerStopping(BaseException):
    """This worker is about to end; the stage goes on elsewhere from its stored turns."""


class StageHalted(Exception):
    """Seen by the workflow: a stage came to a halt on purpose."""

    def __init__(self, halt: Halt) -> None:
        super().__init__(halt.value)
        self.halt = halt


def halted_failure(halt: Halt) -> ApplicationError:
    """A halt: Temporal must not retry, the workflow decides. Benign: nothing is wrong, so nothing is logged as such."""
    message = f"halted: {halt.value}"
    return ApplicationError(message, halt.value, type=HALTED, non_retryable=True, category=ApplicationErrorCategory.BENIGN)


def final_failure(error: BaseException) -> ApplicationError:
    """A stage that failed for good."""
    return ApplicationError(str(error) or type(error).__name__, type=FAILED, non_retryable=True)


def is_final(error: ApplicationError) -> bool:
    """Whether it says that a stage failed for good."""
    return error.type == FAILED


def stopping_failure() -> ApplicationError:
    """The one failure that asks Temporal to try again: on a worker that stays."""
    message = "this worker is stopping"
    return ApplicationError(message, type=STOPPING, next_retry_delay=AGAIN_SOON, category=ApplicationErrorCategory.BENIGN)


def refusal(error: RubricaError | ValueError) -> ApplicationError:
    """A command that cannot be obeyed. Any other exception in an update handler would retry the workflow task for ever."""
    return ApplicationError(str(error), type=type(error).__name__, non_retryable=True)


def halt_in(error: ActivityError) -> Halt | None:
    """The halt that an activity's failure carries, if it carries one."""
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type == HALTED and cause.details:
        return Halt(cause.details[0])
    return None


def reason_in(error: ActivityError) -> str:
    """Why an activity failed, for a reader."""
    cause = error.cause or error
    return str(getattr(cause, "message", "") or cause)
