"""Keep the ends of the logs of watched runs in memory; one reader reads on for all of them."""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from itertools import islice
from uuid import UUID

from app.database.engine import Executor
from app.domain.errors import Unavailable
from app.runs.storage import events
from app.runs.storage.events import LoggedEvent

# Events kept in memory for each watched run; a watcher further behind reads from the database at his own pace.
TAIL_EVENTS = 32
RETRY = timedelta(seconds=1)
# An event is passed on at once. Events that follow within this time (of parallel agents, of other watched runs) are passed on
# together, at most this much late.
GATHERING_TIME = timedelta(milliseconds=40)
RUNS_AT_ONCE = 64

log = logging.getLogger(__name__)


class Feed:
    """The end of one run's log, while somebody watches it.

    The first watcher reads the log from the database. When it has reached the end, `reached` is set, and from then on the
    reader, woken by announcements, reads on for all watchers.
    """

    def __init__(self, database: Executor, reader: "LogReader", run_id: UUID, quiet: timedelta) -> None:
        self.run_id = run_id
        self.watchers = 0
        self.reached: int | None = None
        self._database = database
        self._reader = reader
        self._tail: deque[LoggedEvent] = deque(maxlen=TAIL_EVENTS)
        self._growth = asyncio.Event()
        # Twice in each quiet time: somebody who began to wait in between waits for no longer than one quiet time.
        self._pause_s = quiet.total_seconds() / 2
        self._woken_at = 0.0
        self._beat = asyncio.get_running_loop().call_later(self._pause_s, self._tick)

    def announce(self, seq: int) -> None:
        """Read on if `seq` is new: the log has grown to it."""
        if self.reached is not None and seq > self.reached:
            self._reader.read(self)

    def catch_up(self) -> None:
        """Read the new events, if there are any."""
        if self.reached is not None:
            self._reader.read(self)

    def grow(self, page: Sequence[LoggedEvent]) -> None:
        """Add the events after `reached` that the reader found."""
        self._tail.extend(page)
        self.reached = page[-1].seq
        self.wake()

    def wake(self) -> None:
        """Let every waiting watcher look again."""
        self._woken_at = asyncio.get_running_loop().time()
        self._growth.set()
        self._growth = asyncio.Event()

    def close(self) -> None:
        """End the timer and the reading: nobody watches any more."""
        self._beat.cancel()
        self._reader.forget(self)

    def read_memory(self, seq: int) -> Sequence[LoggedEvent] | None:
        """Return the events after `seq` from memory; empty for a watcher who has them all; None for one who is further behind."""
        if self._tail and seq + 1 >= self._tail[0].seq:
            return tuple(islice(self._tail, seq + 1 - self._tail[0].seq, None))
        return () if self.reached is not None and seq >= self.reached else None

    async def read_stored(self, seq: int) -> Sequence[LoggedEvent]:
        """Return a page of the log after `seq`, from the database.

        Raises:
            Unavailable: the database does not answer.
        """
        page = await events.read_after(self._database, self.run_id, seq)
        if not page and self.reached is None:
            self.reached = seq
            # Announcements before this moment were not heard.
            self.catch_up()
        return page

    async def wait_for_growth(self, seq: int) -> bool:
        """Wait until there is an event after `seq`, or for a quiet time; return False when there is none."""
        if self.reached is not None and self.reached > seq:
            return True
        await self._growth.wait()
        return self.reached is not None and self.reached > seq

    def _tick(self) -> None:
        """Wake every waiter from one timer: a timer for each wait would cost as much as passing on an event."""
        loop = asyncio.get_running_loop()
        if loop.time() - self._woken_at >= self._pause_s:
            self.wake()
        self._beat = loop.call_later(self._pause_s, self._tick)


class LogReader:
    """A reader of all announced logs. One statement reads their new events, repeatedly, until nothing is announced."""

    def __init__(self, database: Executor) -> None:
        self._database = database
        self._unread: dict[UUID, Feed] = {}
        self._task: asyncio.Task[None] | None = None

    def read(self, feed: Feed) -> None:
        """Read on in the feed's log. A log that is being read is read once more, since the statement may have begun too early."""
        self._unread[feed.run_id] = feed
        if self._task is None:
            self._task = asyncio.create_task(self._read())

    def forget(self, feed: Feed) -> None:
        """Stop reading the feed's log."""
        self._unread.pop(feed.run_id, None)

    async def _read(self) -> None:
        try:
            while self._unread:
                feeds = list(islice(self._unread.values(), RUNS_AT_ONCE))
                for feed in feeds:
                    del self._unread[feed.run_id]
                await asyncio.sleep((await self._read_on(feeds)).total_seconds())
        finally:
            self._task = None

    async def _read_on(self, feeds: Sequence[Feed]) -> timedelta:
        """Read the next page of each feed; return how long to wait before the next read."""
        after = {feed.run_id: feed.reached for feed in feeds if feed.reached is not None}
        try:
            pages = await events.read_all_after(self._database, after)
        except Unavailable as error:
            log.warning("reading the events of %d runs: %s", len(feeds), error)
            self._unread |= {feed.run_id: feed for feed in feeds if feed.watchers}
            return RETRY
        for feed in feeds:
            if page := pages.get(feed.run_id):
                feed.grow(page)
            if page and len(page) == events.PAGE and feed.watchers:
                self._unread[feed.run_id] = feed
        return GATHERING_TIME
