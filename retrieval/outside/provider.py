"""What the entrance has to know of a provider: how often it may be called, how long its answers may take and hold."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Provider:
    """A service outside. `per_second` and `burst` bound all workers together, `at_once` one worker's calls under way.

    `attempts` counts the first; each may last `attempt_limit`. Results are used again while younger than `max_age`; zero: never.
    """

    name: str
    per_second: float
    burst: int = 1
    at_once: int = 16
    attempts: int = 6
    attempt_limit: timedelta = timedelta(seconds=10)
    max_age: timedelta = timedelta(days=1)

    @property
    def every(self) -> timedelta:
        """The time in which the bucket gains a token."""
        return timedelta(seconds=1 / self.per_second)
