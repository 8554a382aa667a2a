"""The counts of calls by end and duration, handed over from time to time."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from uuid import UUID

from app.domain.errors import Unavailable
from app.domain.outside_calls import CallEnding
from retrieval.outside.failure import Failure

EDGES_MS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)

_asker: ContextVar[UUID | None] = ContextVar("asker", default=None)

log = logging.getLogger(__name__)


@contextmanager
def count_for(asker: UUID) -> Iterator[None]:
    """Count the calls in this context for the organisation of a run, or for an organisation."""
    token = _asker.set(asker)
    try:
        yield
    finally:
        _asker.reset(token)


class CallEnd(StrEnum):
    """The end of a call for its caller: a new answer, a stored one, another caller's, or a failure."""

    ANSWERED = "answered"
    KEPT = "kept"
    JOINED = "joined"
    FAILED = "failed"


class CallMeter:
    """The counts in memory until `hand_over`. Failed attempts count separately, as `attempt_<failure>`."""

    def __init__(self) -> None:
        self.counts: Counter[CallEnding] = Counter()

    def count_call(self, tool: str, end: CallEnd, seconds: float) -> None:
        """Count the end of a call that took this many seconds with its waiting."""
        self.counts[CallEnding(tool, end.value, _edge_of(seconds), _asker.get())] += 1

    def count_attempt(self, tool: str, failure: Failure, seconds: float) -> None:
        """Count a failed attempt."""
        self.counts[CallEnding(tool, f"attempt_{failure.value}", _edge_of(seconds), _asker.get())] += 1

    async def hand_over(self, count: Callable[[Mapping[CallEnding, int]], Awaitable[None]]) -> None:
        """Hand the counts over. If that fails, keep them for the next time."""
        counts, self.counts = self.counts, Counter()
        if not counts:
            return
        try:
            await count(counts)
        except Unavailable as error:
            self.counts.update(counts)
            log.warning("the counts of outside calls wait: %s", error)


def _edge_of(seconds: float) -> int:
    return next((edge for edge in EDGES_MS if seconds * 1_000 <= edge), EDGES_MS[-1])
