"""The pace of a running build, and the time that a search waits for its vectors."""

from datetime import timedelta
from typing import NamedTuple

from retrieval.store.catalogue import Build, BuildPhase

WAIT_FOR_VECTORS = timedelta(seconds=20)
"""From the beginning of a collection's encoding, searches wait for its end if it takes no longer than this."""
SMALL_COLLECTION = 2_000
"""The passages that are expected to be encoded in this time, before the pace is known. Two cores encode 157 in a second."""


class BuildPace(NamedTuple):
    """The beginning of a build's phase in seconds of a monotonic clock, and the work that was done before."""

    phase: BuildPhase
    generation: str
    since: float
    done: int

    @classmethod
    def begin(cls, build: Build, now: float) -> "BuildPace":
        """Return the pace of a build whose phase begins now."""
        return cls(build.phase, build.generation, now, build.done)

    def continue_with(self, build: Build, now: float) -> "BuildPace":
        """Return the pace after a step: what an index held when the build took it up was not done in this phase."""
        if build.phase is not self.phase:
            return BuildPace.begin(build, now)
        return self if build.generation == self.generation else self._replace(generation=build.generation, done=build.done)

    def measure(self, build: Build, now: float) -> float | None:
        """Return the items done in a second; None before anything is done, and after the build."""
        running = build.phase is self.phase and not build.phase.finished
        return (build.done - self.done) / (now - self.since) if running and build.done > self.done and now > self.since else None

    def find_wait(self, build: Build, now: float, longest: timedelta) -> float:
        """Return the seconds that a search waits for the vectors of this build at most; 0 where it does not wait."""
        left = self.since + longest.total_seconds() - now
        rate, undone = self.measure(build, now), build.total - build.done
        soon = undone <= rate * left if rate else undone < SMALL_COLLECTION
        return max(0.0, left) if soon and build.phase is self.phase is BuildPhase.ENCODING else 0.0
