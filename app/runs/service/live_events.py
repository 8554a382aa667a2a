"""Pass events on to watchers as they happen: one listening connection and one reader per process, for any number of watchers."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta
from uuid import UUID

from app.database.engine import Executor
from app.domain.errors import NotFound, Unavailable
from app.runs.service.live_feed import RETRY, Feed, LogReader
from app.runs.storage import events, evidence, runs
from app.runs.storage.events import LoggedEvent
from app.runs.storage.evidence import EvidenceAccess

# After each such time without an event, watchers get a sign of life. A database read may take no longer: proxies and clients give
# up on silence, and 15 seconds are promised.
QUIET = timedelta(seconds=10)

Batches = AsyncGenerator[Sequence[LoggedEvent], None]


class LiveEvents:
    """The event log as watchers follow it. The process's one `Listener` calls the two methods below.

    `tenants` decides whether the caller may watch a run; logs are read once for all watchers, from `trusted`.
    """

    def __init__(self, tenants: Executor, trusted: Executor, quiet: timedelta = QUIET) -> None:
        self._tenants = tenants
        self._trusted = trusted
        self._quiet = quiet
        self._reader = LogReader(trusted)
        self._feeds: dict[UUID, Feed] = {}
        self._stopped = False

    def note_growth(self, run_id: UUID, seq: int) -> None:
        """Note that a run's log has reached number `seq`."""
        feed = self._feeds.get(run_id)
        if feed is not None:
            feed.announce(seq)

    def read_all_again(self) -> None:
        """Read every watched log again: announcements may have been missed."""
        for feed in self._feeds.values():
            feed.catch_up()

    @property
    def watched_count(self) -> int:
        """The number of runs that are being watched."""
        return len(self._feeds)

    @property
    def has_stopped(self) -> bool:
        """Whether the process shuts down."""
        return self._stopped

    def stop(self) -> None:
        """End all watching, since the process shuts down; clients come back with the last number they saw."""
        self._stopped = True
        for feed in self._feeds.values():
            feed.wake()

    async def watch(self, run_id: UUID, after: int) -> Batches:
        """Yield the events after number `after`, in order, up to the final one; an empty batch after each quiet time.

        No event is missing, except those that were deleted from the log: a `gap` event stands in their place. Who may not read
        what the run gathered, or may not any more, gets them without its words.

        Raises:
            NotFound: no such run.
            Unavailable: the database does not answer at the start; later outages are waited out.
        """
        run = await runs.get(self._tenants, run_id)
        if run is None:
            raise NotFound(f"there is no run {run_id}")
        access = await evidence.get_access(self._tenants, run_id)
        if (feed := self._feeds.get(run_id)) is None:
            feed = self._feeds[run_id] = Feed(self._trusted, self._reader, run_id, self._quiet)
        feed.watchers += 1
        try:
            async for batch in self._follow(feed, min(after, run.last_seq), run.last_seq if run.status.finished else None):
                # A client may send a number that the log has not reached: it did not ask for the events up to that number.
                asked_for = [event for event in batch if event.seq > after] if batch and batch[0].seq <= after else batch
                while asked_for and access.may_change and (now := await self._look_again(run_id)) != access:
                    if now is None:  # the database is away
                        yield ()
                        await asyncio.sleep(RETRY.total_seconds())
                    else:
                        access = now
                yield asked_for if access.readable else evidence.withhold_words(asked_for)
        finally:
            feed.watchers -= 1
            if not feed.watchers:
                del self._feeds[run_id]
                feed.close()

    async def _look_again(self, run_id: UUID) -> EvidenceAccess | None:
        """Return whether the caller may still read what the run gathered; None while the database does not answer."""
        try:
            async with asyncio.timeout(self._quiet.total_seconds()):
                return await evidence.get_access(self._tenants, run_id)
        except (Unavailable, TimeoutError):
            return None

    async def _follow(self, feed: "Feed", after: int, last: int | None) -> Batches:
        """Follow the log; `last` is the highest number of a run that has finished already."""
        while not self._stopped and (last is None or after < last):
            batch = feed.read_memory(after)
            if batch is None:
                try:
                    async with asyncio.timeout(self._quiet.total_seconds()):
                        batch = await feed.read_stored(after)
                except (Unavailable, TimeoutError):
                    await asyncio.sleep(RETRY.total_seconds())
                    yield ()
                    continue
            if batch:
                # Numbers become visible in order: events missing before the first visible one were deleted from the log.
                yield batch if batch[0].seq == after + 1 else (events.gap_event(feed.run_id, after, batch[0].seq), *batch)
                after = batch[-1].seq
                if any(event.final for event in batch):
                    return
            elif last is not None:
                yield (events.gap_event(feed.run_id, after, last + 1),)
                return
            elif not await feed.wait_for_growth(after):
                yield ()
