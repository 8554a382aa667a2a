"""The connection that both clients use: its address, its headers and its time limits."""

import ssl
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any, Protocol, TypeVar

import httpx2

from rubrica_client.errors import RunStopped
from rubrica_client.models import Run, RunEvent
from rubrica_client.paths import join_path
from rubrica_client.request import Request, read
from rubrica_client.runs import FINISHED, PARKED

I = TypeVar("I", covariant=True)  # noqa: E741  an item
AsyncStream = AsyncGenerator[RunEvent | None, None]
AsyncEvents = AsyncGenerator[RunEvent, None]
Stream = Generator[RunEvent | None, None, None]
Events = Generator[RunEvent, None, None]
CONNECT_LIMIT = 3.0  # seconds
# Each watched run holds a connection; free ones are kept for a while.
UNBOUNDED = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
# The server sends a sign of life at least every 15 s, so twice that silence means a dead connection.
SILENCE_LIMIT = 30.0
# One event is one line, and a plan can be a long one.
LONGEST_EVENT = 4 * 2**20


@cache
def load_certificates(trust_env: bool) -> ssl.SSLContext:
    """Load the certificates of known authorities, once a process: that takes longer than an answer of the API."""
    return httpx2.create_ssl_context(trust_env=trust_env)


class Page(Protocol[I]):
    """A part of a list. `next` is what the following page is asked for with; None on the last page."""

    @property
    def items(self) -> Sequence[I]:
        """The items of this page."""
        ...

    @property
    def next(self) -> Any:
        """What goes into `before` for the following page."""
        ...


class Address:
    """The address of an API, the headers of each request, and the time limits."""

    def __init__(self, url: str, key: str | None, headers: Mapping[str, str], timeout: timedelta) -> None:
        self.url = url.rstrip("/")
        self.headers = dict(headers) | ({"Authorization": f"Bearer {key}"} if key else {})
        self._silence = timeout.total_seconds()

    def settings(self) -> dict[str, Any]:
        """Return the arguments of an HTTP client."""
        return {"base_url": self.url, "headers": self.headers, "limits": UNBOUNDED, "timeout": self._limit(self._silence)}

    def options(self, request: Request[Any]) -> dict[str, Any]:
        """Return the arguments for sending a request."""
        longer = request.timeout.total_seconds() if request.timeout else 0.0
        return {**request.options(), "timeout": self._limit(max(self._silence, longer))}

    def stream(self, run_id: str, after: int) -> dict[str, Any]:
        """Return the arguments for opening the stream of a run's events after number `after`."""
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity", "Last-Event-ID": str(after)}
        return {"url": join_path(("v1", "runs", run_id, "events")), "headers": headers, "timeout": self._limit(SILENCE_LIMIT)}

    def events(self, response: httpx2.Response) -> httpx2.EventSource:
        """Return the events of an open stream, to be iterated over."""
        return httpx2.EventSource(response, max_event_size=LONGEST_EVENT)

    def _limit(self, silence: float) -> httpx2.Timeout:
        return httpx2.Timeout(silence, connect=CONNECT_LIMIT)


def event_of(sent: httpx2.ServerSentEvent) -> RunEvent | None:
    """Return the event of a run; None if the server sent none, for instance only a wish for a pause.

    Raises:
        Unreadable: it is something else.
    """
    return read(RunEvent, sent.data) if sent.data else None


def stops_at(event: RunEvent) -> bool:
    """Return whether the run ended or began to wait for a person with this event."""
    return event.type == "status_changed" and event.payload.get("status") in FINISHED | PARKED


def check_not_stopped(run: Run) -> None:
    """Make sure that a run which goes on no more has a report.

    Raises:
        RunStopped: it has none.
    """
    if run.status in (FINISHED | PARKED) - {"completed"}:
        raise RunStopped(run.id, run.status, run.detail)
