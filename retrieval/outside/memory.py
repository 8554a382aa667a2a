"""The shared store of outside calls in memory, for one process: `LocalStages`, evaluation, tests."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from app.domain.errors import NotFound
from app.domain.outside_calls import CallEnding, CallOpening, StoredResult

NEVER = datetime.min.replace(tzinfo=UTC)


def utc_now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


class MemorySharedStore:
    """`OutsideCallStore` without a database. It stores at most the newest `most` results."""

    def __init__(self, now: Callable[[], datetime] = utc_now, most: int = 2_000) -> None:
        self._now = now
        self._most = most
        self._next: dict[str, datetime] = {}
        self.kept: dict[str, tuple[bytes, datetime]] = {}
        self._claims: dict[str, datetime] = {}
        self._texts: dict[str, str] = {}
        self.counted: Counter[CallEnding] = Counter()

    async def take(self, lane: str, every: timedelta, burst: int, longest: timedelta) -> timedelta | None:
        """See `SharedStore.take`."""
        now = self._now()
        slot = max(self._next.get(lane, NEVER), now - every * (burst - 1))
        if slot > now + longest:
            return None
        self._next[lane] = slot + every
        return max(slot - now, timedelta(0))

    async def hold(self, lane: str, pause: timedelta) -> None:
        """See `SharedStore.hold`."""
        self._next[lane] = max(self._next.get(lane, NEVER), self._now() + pause)

    async def begin(self, key: str, max_age: timedelta, lease: timedelta) -> CallOpening:
        """See `SharedStore.begin`."""
        now = self._now()
        body, at = self.kept.get(key, (b"", NEVER))
        if at > now - max_age:
            return CallOpening(StoredResult(body, at, now - at), mine=False)
        if self._claims.get(key, NEVER) > now:
            return CallOpening(None, mine=False)
        self._claims[key] = now + lease
        return CallOpening(None, mine=True)

    async def finish(self, key: str, body: bytes, texts: Mapping[str, str]) -> datetime:
        """See `SharedStore.finish`."""
        self._texts.update(texts)
        self.kept.pop(key, None)
        at = self.kept.setdefault(key, (body, self._now()))[1]
        if len(self.kept) > self._most:
            self.kept.pop(next(iter(self.kept)))
        self._claims.pop(key, None)
        return at

    async def release(self, key: str) -> None:
        """See `SharedStore.release`."""
        self._claims.pop(key, None)

    async def text(self, name: str) -> str:
        """See `SharedStore.text`."""
        if name not in self._texts:
            raise NotFound(f"no text from outside is kept under {name}")
        return self._texts[name]

    async def count(self, endings: Mapping[CallEnding, int]) -> None:
        """See `SharedStore.count`."""
        self.counted.update(endings)

    async def sweep(self) -> int:
        """See `SharedStore.sweep`. Nothing becomes too old in one process's life."""
        return 0
