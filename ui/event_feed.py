"""A run's event log, kept up to date in the background while somebody watches the run."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic

from rubrica_client import ApiError, AsyncClient, runs
from rubrica_client.models import RunEvent
from rubrica_client.patience import NONE
from rubrica_client.runs import FINISHED

FIRST_WAIT = timedelta(seconds=0.5)
LONGEST_WAIT = timedelta(seconds=8)
IDLE_CHECK_S = 1.0


@dataclass(frozen=True)
class FeedState:
    """The state of a feed: all events so far in order, and the error it has now, if any."""

    events: tuple[RunEvent, ...] = ()
    problem: ApiError | None = None
    whole: bool = False  # the run has finished, and no more comes, not even its end where that has expired

    @property
    def ended(self) -> bool:
        """True when the log holds its last event."""
        return self.whole or any(
            event.type == "status_changed" and event.payload.get("status") in FINISHED for event in self.events[-3:]
        )


class EventFeed:
    """A follower of one run over server-sent events; it reconnects with the last sequence number it has.

    Its thread ends with the run, or when nobody has looked for `idle`; the next look starts it again where it stopped.
    """

    def __init__(self, address: str, headers: Mapping[str, str], run_id: str, idle: timedelta = timedelta(seconds=30)) -> None:
        self._address = address
        self._headers = headers
        self._run_id = run_id
        self._idle = idle.total_seconds()
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._events: list[RunEvent] = []
        self._problem: ApiError | None = None
        self._whole = False
        self._looked_at = monotonic()
        self._thread: threading.Thread | None = None

    def look(self, first_wait: timedelta = timedelta(seconds=1)) -> FeedState:
        """Return the state now. The very first look waits up to `first_wait` for something to show."""
        self._looked_at = monotonic()
        with self._lock:
            state = FeedState(tuple(self._events), self._problem, self._whole)
            if not state.ended and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(
                    target=lambda: asyncio.run(self._follow()), name=f"events-{self._run_id}", daemon=True
                )
                self._thread.start()
        if state.events or state.problem:
            return state
        self._news.wait(first_wait.total_seconds())
        with self._lock:
            return FeedState(tuple(self._events), self._problem, self._whole)

    @property
    def following(self) -> bool:
        """True while the background thread runs."""
        return self._thread is not None and self._thread.is_alive()

    async def _follow(self) -> None:
        wait = FIRST_WAIT
        async with AsyncClient(self._address, headers=self._headers, patience=NONE, trust_env=False) as client:
            while not self._is_done():
                before = len(self._events)
                problem = await self._try_to_read_on(client)
                with self._lock:
                    self._problem = problem
                self._news.set()
                wait = FIRST_WAIT if len(self._events) > before else min(wait * 2, LONGEST_WAIT)
                if not self._is_done():
                    await asyncio.sleep(wait.total_seconds())

    async def _try_to_read_on(self, client: AsyncClient) -> ApiError | None:
        """Read until the stream ends or nobody looks any more, and return the error that stopped it, if any."""
        reading = asyncio.create_task(self._read_on(client))
        while not reading.done():
            await asyncio.wait((reading,), timeout=IDLE_CHECK_S)
            if self._is_done():
                reading.cancel()
        (result,) = await asyncio.gather(reading, return_exceptions=True)
        if isinstance(result, Exception) and not isinstance(result, ApiError):
            raise result
        return result if isinstance(result, ApiError) else None

    async def _read_on(self, client: AsyncClient) -> None:
        last = self._events[-1].seq if self._events else 0
        async for event in client.stream(self._run_id, last):
            with self._lock:
                self._problem = None
                if event is not None and event.seq > last:
                    self._events.append(event)
                    last = event.seq
            if event is not None:
                self._news.set()
        if not self._is_done():
            run = await client.send(runs.get(self._run_id))
            self._whole = run.status in FINISHED and last >= run.last_seq

    def _is_done(self) -> bool:
        return FeedState(tuple(self._events[-3:]), whole=self._whole).ended or monotonic() - self._looked_at > self._idle
