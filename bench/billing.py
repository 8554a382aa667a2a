"""Compares the model server's bill with the turns in PostgreSQL: was an answer that was already stored asked for again?"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tests.support.model_stub_bill import BillLine

REACHED_THE_MODEL = ("answered", "aborted")


@dataclass(frozen=True)
class StoredTurn:
    """A model turn in Postgres: the request's digest and when the turn was stored."""

    agent: str
    ordinal: int
    digest: str
    stored_at: datetime


@dataclass(frozen=True)
class Billing:
    """Counts of a run's bill.

    `double_billed` counts calls made after every turn that needed their answer had been stored. `repeated_in_flight` counts
    further calls of a request whose earlier call was cut off, or answered but not yet stored, when a process was killed.
    `unstored` counts requests that were answered and are in no stored turn at all: work that was lost.
    """

    calls: int
    double_billed: int
    repeated_in_flight: int
    unstored: int

    def __add__(self, other: "Billing") -> "Billing":
        return Billing(
            self.calls + other.calls,
            self.double_billed + other.double_billed,
            self.repeated_in_flight + other.repeated_in_flight,
            self.unstored + other.unstored,
        )


def compare_bill(lines: Iterable[BillLine], turns: Iterable[StoredTurn]) -> Billing:
    """Compare one run's bill with its stored turns. Faults the stub injected count as no call: nothing was sold."""
    starts: dict[str, list[float]] = defaultdict(list)
    answered: set[str] = set()
    for line in lines:
        if line.outcome in REACHED_THE_MODEL:
            starts[line.key].append(line.start)
            if line.outcome == "answered":
                answered.add(line.key)
    stored: dict[str, list[float]] = defaultdict(list)
    for turn in turns:
        stored[turn.digest].append(turn.stored_at.timestamp())
    double = {key: count_late_calls(sorted(times), sorted(stored.get(key, ()))) for key, times in starts.items()}
    extra = {key: max(0, len(times) - max(1, len(stored.get(key, ())))) for key, times in starts.items()}
    return Billing(
        calls=sum(map(len, starts.values())),
        double_billed=sum(double.values()),
        repeated_in_flight=sum(extra[key] - double[key] for key in starts),
        unstored=sum(1 for key in answered if key not in stored),
    )


def count_late_calls(starts: Sequence[float], stored: Sequence[float]) -> int:
    """Count the calls of one request that began when no turn needed them any more.

    With n turns of the same request, the calls that begin after the k-th was stored may be n - k; more are double.
    """
    n = len(stored)
    return max((sum(s > at for s in starts) - (n - k) for k, at in enumerate(stored, start=1)), default=0) if n else 0
