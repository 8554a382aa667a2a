"""Telling a request that never reached its server from one that was lost there.

Servers close kept-alive connections as they like (llama.cpp after every stream), and a request may be written onto a connection
that is already closed at the other end. Such a request was never read, so sending it again is no retry.
"""

import socket
import time
from contextvars import ContextVar
from dataclasses import dataclass, field

import aiohttp
from aiohttp import AddrInfoType
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


_under_way: ContextVar[Delivery | None] = ContextVar("delivery", default=None)


def begun() -> Delivery:
    """The attempt that this task makes from now on."""
    delivery = Delivery()
    _under_way.set(delivery)
    return delivery


def opened_socket(address: AddrInfoType) -> socket.socket:
    """The socket of a new connection; the attempt it is opened for is told. The library's own tracing costs 50 us a call."""
    delivery = _under_way.get()
    if delivery is not None:
        delivery.fresh = True
    family, kind, protocol, *_ = address
    return socket.socket(family, kind, protocol)
