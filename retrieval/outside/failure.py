"""The ways in which an attempt at an outside call can fail. The attempt names its failure; the entrance decides what follows."""

from datetime import timedelta
from enum import StrEnum

from app.domain.errors import RubricaError
from app.domain.safe_text import make_safe


class Failure(StrEnum):
    """The kind of a failure. Only `REFUSED` and `DENIED` are not tried again."""

    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    TIMED_OUT = "timed_out"
    GARBLED = "garbled"
    REFUSED = "refused"
    DENIED = "denied"

    @property
    def passing(self) -> bool:
        """Whether another attempt may succeed."""
        return self not in (Failure.REFUSED, Failure.DENIED)


class CallFailed(RubricaError):
    """One attempt had no result.

    `REFUSED`: this request will never be answered (its address is refused, its page does not exist). `DENIED`: no request will be
    answered until somebody repairs the key or pays. `retry_after` is the server's wish where it stated one.
    """

    def __init__(self, failure: Failure, message: str, retry_after: timedelta | None = None) -> None:
        super().__init__(make_safe(message))  # servers word it
        self.failure = failure
        self.retry_after = retry_after
