"""Outcomes of mistakes that were tried, kept in a file, so that hours of trying can be continued."""

from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bench.mutations import Mutation


class MutantOutcome(StrEnum):
    """The result of testing a mistake."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMED_OUT = "timed out"


class KnownMutant(BaseModel):
    """A mistake that was tried, the digest of its module without the mistake, and the outcome."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    module: str
    line: int
    operator: str
    occurrence: int
    source: str
    outcome: MutantOutcome


class KnownMutants:
    """A file of mistakes that were tried, one a line; it need not be there yet."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def find_noticed(self, root: Path, mutation: Mutation) -> MutantOutcome | None:
        """Return how tests noticed this mistake in the same source; None when they did not, or when nobody tried."""
        tried = {(known.source, known.operator, known.occurrence): known.outcome for known in self._read()}
        outcome = tried.get((_digest_source(root, mutation), mutation.operator, mutation.occurrence))
        return None if outcome is MutantOutcome.SURVIVED else outcome

    def add(self, root: Path, mutation: Mutation, outcome: MutantOutcome) -> None:
        """Append the outcome of a mistake; the latest outcome counts."""
        known = KnownMutant(**asdict(mutation), source=_digest_source(root, mutation), outcome=outcome)
        with self._file.open("a") as file:
            file.write(known.model_dump_json() + "\n")

    def _read(self) -> Iterator[KnownMutant]:
        if self._file.exists():
            yield from map(KnownMutant.model_validate_json, self._file.read_text().splitlines())


def _digest_source(root: Path, mutation: Mutation) -> str:
    return sha256((root / mutation.module).read_bytes()).hexdigest()
