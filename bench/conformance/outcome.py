"""What a suite found."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple


class NotRun(Exception):
    """A reason why a suite does not run here, or not at all."""


class Outcome(NamedTuple):
    """What a suite found: how many of its checks passed, and which were skipped or failed, each by its name with the reason."""

    passed: int
    skipped: Mapping[str, str] = {}
    failed: Mapping[str, str] = {}

    @property
    def run(self) -> int:
        """How many checks were run."""
        return self.passed + len(self.failed)


class Suite(NamedTuple):
    """A suite, by its name and version. `check` gets the folder of the suites of others, and raises `NotRun`."""

    name: str
    version: str
    check: Callable[[Path], Outcome]


def count_checks(checks: Iterable[tuple[str, str]], skipped: Mapping[str, str] | None = None) -> Outcome:
    """Return the outcome of checks: each is a name and what is wrong, which is empty where nothing is."""
    found = list(checks)
    failed = {name: wrong for name, wrong in found if wrong}
    return Outcome(len(found) - len(failed), skipped or {}, failed)
