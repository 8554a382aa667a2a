"""Following runs as they happen: one listening connection a process and one read a run, however many watch it."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta
from itertools import islice
from uuid import UUID

from app.domain.errors import NotFound, Unavailable
from app.storage import events, runs
from app.storage.engine import Executor
from app.storage.events import LoggedEvent

# Events kept in memory for each watched run; who is further behind reads from the database at his own pace.
TAIL = 256
RETRY = timedelta(seconds=1)
# Watchers are told that they are not forgotten after each such time without an event. A read may take no longer: proxies and
# clients give up on silence, and 15 seconds are promised.
QUIET = timedelta(seconds=10)
# Parallel agents finish in bursts: an event is passed on at once, and those that follow within this time together.
BREATH = timedelta(milliseconds=60)

Batches = AsyncGenerator[Sequence[LoggedEvent], None]

log = logging.getLogger(__name__)


class LiveEvents:
    """Fans the event log out to watchers. `heard` and `gap` are for the process's one `Listener`.

    Whether a run may be watched is asked of `tenants`, for whom it is; its log is read once for all its watchers, from `trusted`.
    """

    def __init__(self, tenants: Executor, trusted: Executor, quiet: timedelta = QUIET) -> None:
        self._tenants = tenants
        self._trusted = trusted
        self._quiet = quiet
        self._feeds: dict[UUID, Feed] = {}
        self._stopped = False

    def heard(self, run_id: UUID, seq: int) -> None:
        """A run's log has reached `seq`."""
        feed = self._feeds.get(run_id)
        if feed is not None:
            feed.announce(seq)

    def gap(self) -> None:
        """Announcements may have been missed: read every watched log again."""
        for feed in self._feeds.values():
            feed.catch_up()

    @property
    def watched(self) -> int:
        """How many runs are being watched."""
        return len(self._feeds)

    def stop(self) -> None:
        """End all watching: the process is shutting down, and clients come back with the last number they saw."""
        self._stopped = True
        for feed in self._feeds.values():
            feed.wake()

    async def watch(self, run_id: UUID, after: int) -> Batches:
        """The events after number `after`, in order, up to the final one; an empty batch after each quiet time.

        None is missing, unless the log does not keep it any more: then a `gap` event stands in its place.

        Raises:
            NotFound: no such run.
            Unavailable: the database does not answer at the start; later outages are waited out.
        """
        run = await runs.get(self._tenants, run_id)
        if run is None:
            raise NotFound(f"there is no run {run_id}")
        feed = self._feeds.setdefault(run_id, Feed(self._trusted, run_id))
        feed.watchers += 1
        try:
            async for batch in self._follow(feed, min(after, run.last_seq), run.last_seq if run.status.finished else None):
                # A number from the future: what it covers has still to happen, and was not asked for.
                yield [event for event in batch if event.seq > after] if batch and batch[0].seq <= after else batch
        finally:
            feed.watchers -= 1
            if not feed.watchers:
                self._feeds.pop(run_id, None)
                feed.close()

    async def _follow(self, feed: "Feed", after: int, last: int | None) -> Batches:
        """`last` is the highest number of a run that has finished already."""
        while not self._stopped and (last is None or after < last):
            try:
                async with asyncio.timeout(self._quiet.total_seconds()):
                    batch = await feed.after(after)
            except (Unavailable, TimeoutError):
                await asyncio.sleep(RETRY.total_seconds())
                yield ()
                continue
            if batch:
                # Numbers become visible in order: what is missing before the first one that is there was taken out of the log.
                yield batch if batch[0].seq == after + 1 else (events.gap(feed.run_id, after, batch[0].seq), *batch)
                after = batch[-1].seq
                if any(event.final for event in batch):
                    return
            elif last is not None:
                yield (events.gap(feed.run_id, after, last + 1),)
                return
            elif not await feed.grown(after, self._quiet):
                yield ()


class Feed:
    """The end of one run's log, while somebody watches it.

    The first watcher reads the log from the database. When he has reached its end, `_reached` is set, and from then on one
    reader task, woken by announcements, reads on for all watchers.
    """

    def __init__(self, database: Executor, run_id: UUID) -> None:
        self.run_id = run_id
        self.watchers = 0
        self._database = database
        self._tail: deque[LoggedEvent] = deque(maxlen=TAIL)
        self._reached: int | None = None
        self._unread = False
        self._reader: asyncio.Task[None] | None = None
        self._growth = asyncio.Event()

    def announce(self, seq: int) -> None:
        """The log has grown to `seq`."""
        if self._reached is not None and seq > self._reached:
            self.catch_up()

    def catch_up(self) -> None:
        """Read what is new. A reader that is at work reads once more, since its statement may have begun too early."""
        self._unread = True
        if self._reader is None and self._reached is not None:
            self._reader = asyncio.create_task(self._read())

    def wake(self) -> None:
        """Let every waiting watcher look again."""
        self._growth.set()
        self._growth = asyncio.Event()

    def close(self) -> None:
        """Stop reading."""
        if self._reader is not None:
            self._reader.cancel()

    async def after(self, seq: int) -> Sequence[LoggedEvent]:
        """The next events after `seq`: from memory, or a page of the database for who is further behind."""
        if self._tail and seq + 1 >= self._tail[0].seq:
            return tuple(islice(self._tail, seq + 1 - self._tail[0].seq, None))
        if self._reached is not None and seq >= self._reached:
            return ()
        page = await events.read_after(self._database, self.run_id, seq)
        if not page and self._reached is None:
            self._reached = seq
            # What was announced before this moment went unheard.
            self.catch_up()
        return page

    async def grown(self, seq: int, quiet: timedelta) -> bool:
        """Wait until there is more than `seq`; False after `quiet` time without."""
        if self._reached is not None and self._reached > seq:
            return True
        growth = self._growth
        try:
            async with asyncio.timeout(quiet.total_seconds()):
                await growth.wait()
        except TimeoutError:
            return False
        return True

    async def _read(self) -> None:
        try:
            while self._unread:
                self._unread = False
                await self._read_page()
                await asyncio.sleep(BREATH.total_seconds())
        finally:
            self._reader = None

    async def _read_page(self) -> None:
        assert self._reached is not None
        try:
            page = await events.read_after(self._database, self.run_id, self._reached)
        except Unavailable as error:
            log.warning("reading the events of run %s: %s", self.run_id, error)
            await asyncio.sleep(RETRY.total_seconds())
            self._unread = True
            return
        if page:
            self._tail.extend(page)
            self._reached = page[-1].seq
            self._unread = self._unread or len(page) == events.PAGE
            self.wake()
