"""Calls to outside services, as workers share them: stored results, and the outcome of calls."""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID


class StoredResult(NamedTuple):
    """A stored result of an earlier call. `age` is by the clock of the store."""

    body: bytes
    fetched_at: datetime
    age: timedelta


class CallOpening(NamedTuple):
    """The way to answer a call: use the stored result; or make the call (`mine`); or wait, because another worker makes it."""

    kept: StoredResult | None
    mine: bool


class CallEnding(NamedTuple):
    """The outcome of a tool's call, and its duration in milliseconds (the upper edge of a bucket).

    `asker` is the run or the organisation it was made for; None: no particular one.
    """

    tool: str
    outcome: str
    within_ms: int
    asker: UUID | None = None
