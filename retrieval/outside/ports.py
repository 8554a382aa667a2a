"""What the entrance needs of whatever its workers share: PostgreSQL in the product, memory in one process."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Protocol

from app.domain.outside import Ending, Opening


class Shared(Protocol):
    """Limits, kept results, claims and counts. `app.outside.storage.OutsideStore` is the one in PostgreSQL.

    Raises:
        Unavailable: it does not answer.
    """

    async def take(self, lane: str, every: timedelta, burst: int, longest: timedelta) -> timedelta | None:
        """The wait for the lane's next slot, which is then taken; None when it would be longer than `longest`."""
        ...

    async def hold(self, lane: str, pause: timedelta) -> None:
        """Let nobody begin a call on this lane for a while."""
        ...

    async def begin(self, key: str, max_age: timedelta, lease: timedelta) -> Opening:
        """A result not older than `max_age`, or a claim on the call, which ends after `lease`, or neither."""
        ...

    async def finish(self, key: str, body: bytes, texts: Mapping[str, str]) -> datetime:
        """Keep a result and its texts by hash; the time it was kept."""
        ...

    async def release(self, key: str) -> None:
        """Give a claim back without a result."""
        ...

    async def text(self, name: str) -> str:
        """A text by its hash; `NotFound` when it never came from outside, or is forgotten."""
        ...

    async def count(self, endings: Mapping[Ending, int]) -> None:
        """Add to the counts."""
        ...

    async def sweep(self) -> int:
        """Forget what is too old or too much; how many results that were."""
        ...
