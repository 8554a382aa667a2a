"""The interface of the store that workers share for outside calls: PostgreSQL in the product, memory in one process."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Protocol

from app.domain.outside_calls import CallEnding, CallOpening


class SharedStore(Protocol):
    """The shared limits, stored results, claims and counts. `OutsideCallStore` keeps them in PostgreSQL.

    Raises:
        Unavailable: the store does not answer.
    """

    async def take(self, lane: str, every: timedelta, burst: int, longest: timedelta) -> timedelta | None:
        """Take the lane's next slot, and return the wait for it; None when it would be longer than `longest`."""
        ...

    async def hold(self, lane: str, pause: timedelta) -> None:
        """Stop all calls on this lane from beginning for a while."""
        ...

    async def begin(self, key: str, max_age: timedelta, lease: timedelta) -> CallOpening:
        """Return a result not older than `max_age`, or else a claim on the call, which ends after `lease`, or neither."""
        ...

    async def finish(self, key: str, body: bytes, texts: Mapping[str, str]) -> datetime:
        """Store a result and its texts by hash, and return the time of storing."""
        ...

    async def release(self, key: str) -> None:
        """Give a claim back without a result."""
        ...

    async def text(self, name: str) -> str:
        """Return a text by its hash. Raises `NotFound` when it never came from outside, or was deleted."""
        ...

    async def count(self, endings: Mapping[CallEnding, int]) -> None:
        """Add to the counts."""
        ...

    async def sweep(self) -> int:
        """Delete results that are too old or too many, and return their number."""
        ...
