"""The limits of a provider: its rate of calls, the time of an answer, and the age of stored answers."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Provider:
    """A service outside. `per_second` and `burst` bound all workers together, `at_once` one worker's calls under way.

    `attempts` includes the first one; each may last `attempt_limit`. Results younger than `max_age` are used again; zero: never.
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
