"""Read requests from a connection with bounded patience: a head has a time, a body a pace, and a sender a number of both.

Without that, a request that never ends holds a connection for ever, and as many of them as the process may have files end it
for everybody (uvicorn limits only the time between two requests).
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from app.http.half_requests import HalfRequests, sender_of
from app.http.refusals import RequestRefusal

CLOSING = (b"connection", b"close")
TOO_SLOW = RequestRefusal(408, "request-timeout", "Request timeout", "the request did not arrive in time; send it again")
HEAD_TOO_LARGE = RequestRefusal(
    431, "request-header-fields-too-large", "Request header fields too large", "the address and headers of a request are too long"
)
TOO_MANY = RequestRefusal(
    429,
    "too-many-requests",
    "Too many requests",
    "your address has too many unfinished requests here; send a few at a time",
    retry_s=10,
)
FULL = RequestRefusal(
    503, "unavailable", "Unavailable", "the server has as many connections as it may; try again in a moment", retry_s=2
)


@dataclass(frozen=True)
class Patience:
    """How long the server waits for requests, and for how many.

    A head must be whole within `head`, and have `head_bytes` at most. A body must bring `body_bytes` in each `body` until it is
    whole. A sender may have `of_sender` unfinished requests, and all together `connections`.
    """

    connections: int
    head: timedelta = timedelta(seconds=20)
    head_bytes: int = 65_536
    body: timedelta = timedelta(seconds=60)
    body_bytes: int = 4_096
    of_sender: int = 100


class PatientProtocol(HttpToolsProtocol):
    """Uvicorn's protocol of one connection, which does not wait for ever."""

    def __init__(self, *arguments: Any, half: HalfRequests, patience: Patience, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._half = half
        self._patience = patience
        self._clock: asyncio.TimerHandle | None = None
        self._head_whole = False
        self._whole = False
        # Of the head that is coming, or of this while of a body.
        self._bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request; refuse it if there is no room."""
        super().connection_made(transport)
        if len(self.connections) > self._patience.connections and not self._half.make_room():
            self._say_and_close(FULL)
        else:
            self._wait_for_rest()

    def data_received(self, data: bytes) -> None:
        """Take what came. A request that is not whole yet has a limited time for the rest."""
        self._half.forget_idle(self)
        super().data_received(data)
        self._bytes += len(data)
        if self.transport.is_closing():
            self._stop_waiting()
        elif not self._whole:
            self._wait_for_rest()
        elif self._is_between_requests and self.timeout_keep_alive_task is None:
            # Empty lines: uvicorn has stopped its clock for them, and no request has begun.
            self._head_whole = self._whole = False
            self._bytes = 0
            self._wait_for_rest()

    def on_message_begin(self) -> None:
        """Begin to count a new request."""
        super().on_message_begin()
        self._stop_waiting()
        self._head_whole = self._whole = False
        self._bytes = 0

    def on_headers_complete(self) -> None:
        """Begin to count its body."""
        super().on_headers_complete()
        self._stop_waiting()
        self._head_whole = True
        self._bytes = 0

    def on_message_complete(self) -> None:
        """Wait no more."""
        super().on_message_complete()
        self._stop_waiting()
        self._whole = True

    def on_response_complete(self) -> None:
        """Let the connection rest until its next request."""
        super().on_response_complete()
        if self._whole and self._is_between_requests and not self.transport.is_closing():
            self._half.note_idle(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def cut_one_of_many(self) -> None:
        """Close the connection: its sender has too many unfinished requests."""
        self._cut(TOO_MANY)

    def cut_to_make_room(self) -> None:
        """Close the connection: somebody else needs it."""
        self._cut(FULL)

    @property
    def _is_between_requests(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete and not self.pipeline

    def _wait_for_rest(self) -> None:
        if not self._head_whole and self._bytes > self._patience.head_bytes:
            self._cut(HEAD_TOO_LARGE)
        elif self._clock is None:
            self._start_clock()
            self._half.note_half(self, self._find_sender())

    def _start_clock(self) -> None:
        limit = self._patience.body if self._head_whole else self._patience.head
        self._clock = self.loop.call_later(limit.total_seconds(), self._look)

    def _stop_waiting(self) -> None:
        self._half.forget(self)
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _look(self) -> None:
        """Cut a request that is late. One that we have stopped reading ourselves is not."""
        if self.flow.read_paused or (self._head_whole and self._bytes >= self._patience.body_bytes):
            self._bytes = 0
            self._start_clock()
        else:
            self._cut(TOO_SLOW)

    def _find_sender(self) -> str | None:
        """Return who sends: behind a trusted proxy the one whom it names, once that is known."""
        host = self.client[0] if self.client else ""
        proxies = self.app.trusted_hosts  # of uvicorn's middleware, which wraps the application
        if host not in proxies:
            return sender_of(host)
        named = [value.decode("latin-1") for name, value in self.headers or () if name == b"x-forwarded-for"]
        return sender_of(proxies.get_trusted_client_address(", ".join(named))[0]) if self._head_whole and named else None

    def _cut(self, refusal: RequestRefusal) -> None:
        """Close the connection. Say why, where that can be the answer to nothing but the unfinished request."""
        self._stop_waiting()
        cycle = self.cycle
        if self._head_whole:
            answerable = not cycle.response_started and not self.pipeline
        else:
            answerable = self._bytes > 0 and (cycle is None or cycle.response_complete)
        if answerable:
            self._say_and_close(refusal)
        elif cycle is None or cycle.response_complete:
            self.transport.close()
        else:
            self.transport.abort()

    def _say_and_close(self, refusal: RequestRefusal) -> None:
        headers = [b"%b: %b\r\n" % header for header in (*refusal.headers, CLOSING)]
        self.transport.write(b"".join((STATUS_LINE[refusal.status], *headers, b"\r\n", refusal.body)))
        self.transport.close()
