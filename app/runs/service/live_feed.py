"""The ends of the logs of watched runs, kept in memory; one reader reads on for all of them."""

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

# Events kept in memory for each watched run; who is further behind reads from the database at his own pace.
TAIL = 32
RETRY = timedelta(seconds=1)
# An event is passed on at once, and all that follow within this time together: parallel agents, and the other runs that are
# watched. What follows is late by no more than this.
BREATH = timedelta(milliseconds=40)
RUNS_AT_ONCE = 64

log = logging.getLogger(__name__)


class Feed:
    """The end of one run's log, while somebody watches it.

    The first watcher reads the log from the database. When he has reached its end, `reached` is set, and from then on the
    reader, woken by announcements, reads on for all watchers.
    """

    def __init__(self, database: Executor, reader: "Reader", run_id: UUID, quiet: timedelta) -> None:
        self.run_id = run_id
        self.watchers = 0
        self.reached: int | None = None
        self._database = database
        self._reader = reader
        self._tail: deque[LoggedEvent] = deque(maxlen=TAIL)
        self._growth = asyncio.Event()
        # Twice in each quiet time, so that who began to wait in between is not left alone for longer than one.
        self._pause_s = quiet.total_seconds() / 2
        self._woken_at = 0.0
        self._beat = asyncio.get_running_loop().call_later(self._pause_s, self._tick)

    def announce(self, seq: int) -> None:
        """The log has grown to `seq`."""
        if self.reached is not None and seq > self.reached:
            self._reader.read(self)

    def catch_up(self) -> None:
        """Read what is new, if there is anything."""
        if self.reached is not None:
            self._reader.read(self)

    def grow(self, page: Sequence[LoggedEvent]) -> None:
        """What the reader found: the events after `reached`."""
        self._tail.extend(page)
        self.reached = page[-1].seq
        self.wake()

    def wake(self) -> None:
        """Let every waiting watcher look again."""
        self._woken_at = asyncio.get_running_loop().time()
        self._growth.set()
        self._growth = asyncio.Event()

    def close(self) -> None:
        """Nobody watches any more."""
        self._beat.cancel()
        self._reader.forget(self)

    def kept(self, seq: int) -> Sequence[LoggedEvent] | None:
        """The next events after `seq`; none for who has them all; None for who is further behind than what is in memory."""
        if self._tail and seq + 1 >= self._tail[0].seq:
            return tuple(islice(self._tail, seq + 1 - self._tail[0].seq, None))
        return () if self.reached is not None and seq >= self.reached else None

    async def stored(self, seq: int) -> Sequence[LoggedEvent]:
        """A page of the log after `seq`, from the database.

        Raises:
            Unavailable: the database does not answer.
        """
        page = await events.read_after(self._database, self.run_id, seq)
        if not page and self.reached is None:
            self.reached = seq
            # What was announced before this moment went unheard.
            self.catch_up()
        return page

    async def grown(self, seq: int) -> bool:
        """Wait until there is more than `seq`, or for a quiet time; False when there is nothing more."""
        if self.reached is not None and self.reached > seq:
            return True
        await self._growth.wait()
        return self.reached is not None and self.reached > seq

    def _tick(self) -> None:
        """One timer for all who wait: a timer for each wait would cost as much as telling them something."""
        loop = asyncio.get_running_loop()
        if loop.time() - self._woken_at >= self._pause_s:
            self.wake()
        self._beat = loop.call_later(self._pause_s, self._tick)


class Reader:
    """Reads what is new in all logs that were announced, with one statement, again and again until nothing is announced."""

    def __init__(self, database: Executor) -> None:
        self._database = database
        self._unread: dict[UUID, Feed] = {}
        self._task: asyncio.Task[None] | None = None

    def read(self, feed: Feed) -> None:
        """Read on in its log. One that is being read is read once more, since the statement may have begun too early."""
        self._unread[feed.run_id] = feed
        if self._task is None:
            self._task = asyncio.create_task(self._read())

    def forget(self, feed: Feed) -> None:
        """Do not read on in its log."""
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
        """How long to wait before the next time."""
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
        return BREATH
