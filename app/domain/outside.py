"""Calls to the world outside, as their workers share them: kept results, and how calls ended."""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID


class Kept(NamedTuple):
    """A result that was fetched before. `age` by the clock of whoever keeps it."""

    body: bytes
    fetched_at: datetime
    age: timedelta


class Opening(NamedTuple):
    """What is to be done about a call: use what is kept; or make it (`mine`); or wait, because another worker makes it."""

    kept: Kept | None
    mine: bool


class Ending(NamedTuple):
    """How a call of a tool ended, within how many milliseconds (the upper edge of a bucket).

    `asker` is the run or the organisation it was made for; None: nobody in particular.
    """

    tool: str
    outcome: str
    within_ms: int
    asker: UUID | None = None
