"""Telling a request that never reached its server from one that was lost there.

Servers close kept-alive connections as they like (llama.cpp after every stream), and a request may be written onto a connection
that is already closed at the other end. Such a request was never read, so sending it again is no retry.
"""

import time
from dataclasses import dataclass, field
from types import SimpleNamespace

import aiohttp

AT_ONCE_S = 0.25


@dataclass
class Delivery:
    """One attempt to hand over a request. `fresh` is true when a connection was opened for it: the others served earlier ones."""

    began: float = field(default_factory=time.monotonic)
    fresh: bool = False
    answered: bool = False

    def never_arrived(self, error: BaseException | None) -> bool:
        """Whether a kept connection turned out to be closed: it broke at once, before any byte of an answer."""
        broke = isinstance(error, aiohttp.ClientOSError | aiohttp.ServerDisconnectedError)
        at_once = time.monotonic() - self.began < AT_ONCE_S
        kept = not self.fresh and not isinstance(error, aiohttp.ClientConnectorError)
        return broke and kept and not self.answered and at_once


def note_new_connections() -> aiohttp.TraceConfig:
    """The part of a session that tells the `Delivery` that travels with a request when a connection is opened for it."""

    async def note(_: aiohttp.ClientSession, context: SimpleNamespace, __: aiohttp.TraceConnectionCreateStartParams) -> None:
        context.trace_request_ctx.fresh = True

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_create_start.append(note)
    return tracing
