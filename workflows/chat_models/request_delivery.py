"""Distinguishing a request that never reached its server from one that was lost there.

Servers close kept-alive connections at any time (llama.cpp after every stream), so a request may be written to a connection that
is already closed at the other end. Such a request was never read, so sending it again is no retry.
"""

import time
from dataclasses import dataclass, field
from types import SimpleNamespace

import aiohttp

AT_ONCE_S = 0.25


@dataclass
class RequestDelivery:
    """One attempt to deliver a request. `fresh` is true when a new connection was opened for it."""

    began: float = field(default_factory=time.monotonic)
    fresh: bool = False
    answered: bool = False

    def has_never_arrived(self, error: BaseException | None) -> bool:
        """Say whether a kept-alive connection was already closed: it broke at once, before any byte of an answer."""
        broke = isinstance(error, aiohttp.ClientOSError | aiohttp.ServerDisconnectedError)
        at_once = time.monotonic() - self.began < AT_ONCE_S
        kept = not self.fresh and not isinstance(error, aiohttp.ClientConnectorError)
        return broke and kept and not self.answered and at_once


def note_new_connections() -> aiohttp.TraceConfig:
    """Return a session's tracing, which marks a request's `RequestDelivery` as fresh when a connection is opened for it."""

    async def note(_: aiohttp.ClientSession, context: SimpleNamespace, __: aiohttp.TraceConnectionCreateStartParams) -> None:
        context.trace_request_ctx.fresh = True

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_create_start.append(note)
    return tracing
