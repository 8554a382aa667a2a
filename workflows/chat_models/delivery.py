"""Telling a request that never reached its server from one that was lost there.

Servers close kept-alive connections as they like (llama.cpp after every stream), and a request may be written onto a connection
that is already closed at the other end. Such a request was never read, so sending it again is no retry.
"""

import time
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import BytesPayload

AT_ONCE_S = 0.25


class SentOnce(BytesPayload):
    """A request's bytes, let go when they are sent: while the model thinks they would double what a call keeps in memory."""

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """Send them."""
        await super().write_with_length(writer, content_length)
        self._value = b""


@dataclass(slots=True)
class Delivery:
    """One attempt to hand over a request. `reused` is true on a connection that served an earlier request."""

    began: float = field(default_factory=time.monotonic)
    reused: bool = False
    answered: bool = False

    def never_arrived(self, error: BaseException | None) -> bool:
        """Whether a kept connection turned out to be closed: it broke at once, before any byte of an answer."""
        broke = isinstance(error, aiohttp.ClientOSError | aiohttp.ServerDisconnectedError)
        at_once = time.monotonic() - self.began < AT_ONCE_S
        return broke and self.reused and not self.answered and at_once and not isinstance(error, aiohttp.ClientConnectorError)


def traced() -> aiohttp.TraceConfig:
    """A session with this setting marks the `Delivery` given as `trace_request_ctx` when a connection is used again."""
    config = aiohttp.TraceConfig()
    config.on_connection_reuseconn.append(_reused)
    return config


async def _reused(_: aiohttp.ClientSession, context: SimpleNamespace, __: Any) -> None:
    if isinstance(context.trace_request_ctx, Delivery):
        context.trace_request_ctx.reused = True
