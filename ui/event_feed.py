"""A run's event log, kept up to date in the background while somebody looks at it."""

import threading
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic

from ui.api_client import ApiClient, ApiProblem
from ui.models import FINISHED, Event

FIRST_WAIT = timedelta(seconds=0.5)
LONGEST_WAIT = timedelta(seconds=8)


@dataclass(frozen=True)
class FeedState:
    """What the feed holds: all events so far in order, and the trouble it has, if any."""

    events: tuple[Event, ...] = ()
    problem: ApiProblem | None = None

    @property
    def ended(self) -> bool:
        """True when the log has said its last word."""
        return any(event.type == "status_changed" and event.payload.get("status") in FINISHED for event in self.events[-3:])


class EventFeed:
    """Follows one run over server-sent events and reconnects with the last sequence number it has.

    Its thread ends with the run, or when nobody has looked for `idle`; the next look starts it again where it was.
    """

    def __init__(self, client: ApiClient, run_id: str, idle: timedelta = timedelta(seconds=30)) -> None:
        self._client = client
        self._run_id = run_id
        self._idle = idle.total_seconds()
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._events: list[Event] = []
        self._problem: ApiProblem | None = None
        self._looked_at = monotonic()
        self._thread: threading.Thread | None = None

    def look(self, first_wait: timedelta = timedelta(seconds=1)) -> FeedState:
        """The state now. The very first look waits up to `first_wait` for something to show."""
        self._looked_at = monotonic()
        with self._lock:
            state = FeedState(tuple(self._events), self._problem)
            if not state.ended and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._follow, name=f"events-{self._run_id}", daemon=True)
                self._thread.start()
        if state.events or state.problem:
            return state
        self._news.wait(first_wait.total_seconds())
        with self._lock:
            return FeedState(tuple(self._events), self._problem)

    @property
    def following(self) -> bool:
        """True while the background thread is at work."""
        return self._thread is not None and self._thread.is_alive()

    def _follow(self) -> None:
        wait = FIRST_WAIT
        while not self._done():
            before = len(self._events)
            problem = self._try_to_read_on()
            with self._lock:
                self._problem = problem
            self._news.set()
            wait = FIRST_WAIT if len(self._events) > before else min(wait * 2, LONGEST_WAIT)
            if not self._done():
                threading.Event().wait(wait.total_seconds())

    def _try_to_read_on(self) -> ApiProblem | None:
        try:
            self._read_on()
        except ApiProblem as problem:
            return problem
        return None

    def _read_on(self) -> None:
        last = self._events[-1].seq if self._events else 0
        for event in self._client.events(self._run_id, after=last):
            with self._lock:
                self._problem = None
                if event is not None and event.seq > last:
                    self._events.append(event)
                    last = event.seq
            if event is not None:
                self._news.set()
            if self._done():
                return

    def _done(self) -> bool:
        return FeedState(tuple(self._events[-3:])).ended or monotonic() - self._looked_at > self._idle
