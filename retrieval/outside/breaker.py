"""A circuit breaker: a provider that fails repeatedly gets no calls for a while; then one call at a time tries it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from retrieval.outside.failure import Failure

FAILURES = 8
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=2)
DENIED_PAUSE = timedelta(minutes=5)


@dataclass
class Breaker:
    """The breaker of one provider in this worker. It opens after several failures in a row, and at once when the key is refused.

    A rate limit is no failure of the provider; the shared limit handles it. `clock` gives seconds.
    """

    clock: Callable[[], float]
    reason: str = field(default="", init=False)
    _failures: int = field(default=0, init=False)
    _opens_at: float = field(default=0.0, init=False)

    def time_until_open(self) -> timedelta:
        """Return the time until a call may be made; zero: now."""
        return timedelta(seconds=max(0.0, self._opens_at - self.clock()))

    def note_start(self, limit: timedelta) -> None:
        """Note that a call begins, which ends within `limit`. While the provider is in doubt, all other calls wait for it."""
        if self._failures >= FAILURES:
            self._pause(limit)

    def note_answer(self) -> None:
        """Note that the provider answered, even if it refused this one request."""
        self._failures, self._opens_at, self.reason = 0, 0.0, ""

    def note_failure(self, failure: Failure, reason: str) -> None:
        """Note that an attempt failed."""
        if failure in (Failure.REFUSED, Failure.RATE_LIMITED):
            self.note_answer()
        elif failure is Failure.DENIED:
            self._failures, self.reason = FAILURES, reason
            self._pause(DENIED_PAUSE)
        else:
            self._failures, self.reason = self._failures + 1, reason
            if self._failures >= FAILURES:
                self._pause(min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._failures - FAILURES, 10)))

    def _pause(self, pause: timedelta) -> None:
        self._opens_at = self.clock() + pause.total_seconds()
