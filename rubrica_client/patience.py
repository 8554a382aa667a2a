"""Rules for repeating a request and for reopening a broken stream. Nothing here waits: both clients do that in their own way."""

from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Any

from rubrica_client.errors import ApiError, InProgress, TooManyRequests, Unavailable, Unreachable
from rubrica_client.models import Run, RunEvent
from rubrica_client.request import Request
from rubrica_client.runs import FINISHED


@dataclass(frozen=True)
class Patience:
    """How long a client waits for an API that is away, and its first and longest pause."""

    total: timedelta = timedelta(seconds=60)
    first_pause: timedelta = timedelta(seconds=0.25)
    longest_pause: timedelta = timedelta(seconds=4)


DEFAULT = Patience()
NONE = Patience(total=timedelta())


class Absence:
    """The time since the API last did what was asked, and the pauses made meanwhile."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self.end()

    def end(self) -> None:
        """End the absence, because the API has answered."""
        self._since: float | None = None
        self._pause = self._patience.first_pause

    def pause(self, error: ApiError) -> float:
        """Return how many seconds to wait before the next attempt: as long as the API says, else longer each time.

        Raises:
            ApiError: that error, when this pause would end after the patience.
        """
        self._since = self._since or monotonic()
        wait = error.retry_after or self._pause
        if monotonic() - self._since + wait.total_seconds() > self._patience.total.total_seconds():
            raise error
        self._pause = min(self._pause * 2, self._patience.longest_pause)
        return wait.total_seconds()


def may_repeat(request: Request[Any], error: ApiError) -> bool:
    """Return whether it is harmless and useful to send the request again. What a limit refused was not carried out."""
    if isinstance(error, TooManyRequests):
        return error.retry_after is not None
    return request.repeatable and isinstance(error, (Unreachable, Unavailable, InProgress))


class LogPosition:
    """The position of a watcher in the log of a run: `seq` is the number of the last event that was taken."""

    def __init__(self, after: int, patience: Patience) -> None:
        self.seq = after
        self._patience = patience
        self._absence = Absence(patience)

    def takes(self, event: RunEvent | None) -> bool:
        """Take the event; return False if it is none, or one that a new connection has repeated."""
        self._absence.end()
        if event is None or event.seq <= self.seq:
            return False
        self.seq = event.seq
        return True

    def has_all_of(self, run: Run) -> bool:
        """Return whether no more events will come."""
        return run.status in FINISHED and self.seq >= run.last_seq

    def pause(self, error: ApiError | None = None) -> float:
        """Return how many seconds to wait before the stream is opened again.

        Raises:
            ApiError: that error, where waiting does not help, or has not for too long.
        """
        if error is None:
            return self._patience.first_pause.total_seconds()
        if not isinstance(error, (Unreachable, Unavailable, TooManyRequests)):
            raise error
        return self._absence.pause(error)
