"""Answer a request that is broken off: by the end of this process, or by its client in the middle of the body.

At its end the server cancels what is still being answered. To its client this is a temporary failure. Only a read says when to
repeat it: a write that a program repeats by itself may be carried out twice.
"""

import asyncio

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPReceiveMessage, Message, Receive, Scope, Send, WebSocketReceiveMessage

from app.domain.errors import InvalidInput
from app.http.guard import READ_METHODS
from app.http.refusals import RequestRefusal, send_refusal

RETRY_S = 2
UNKNOWN = "; whether this was carried out is not known: look for what it makes before you send it again"


class BrokenOff:
    """ASGI middleware in front of the routes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or say that it was broken off."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        started = False

        async def note_and_send(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, _refuse_half_a_body(receive), note_and_send)
        except asyncio.CancelledError:
            if started:
                raise
            await send_refusal(send, _describe_end(scope["method"] in READ_METHODS))


def _describe_end(reads: bool) -> RequestRefusal:
    detail = "the server is being stopped or exchanged; it is back in a moment" + ("" if reads else UNKNOWN)
    return RequestRefusal(503, "unavailable", "Unavailable", detail, retry_s=RETRY_S if reads else None)


def _refuse_half_a_body(receive: Receive) -> Receive:
    """Raise where a client goes away in the middle of a body: half of it is no request, and no error of ours.

    Raises:
        InvalidInput: nobody reads it any more.
    """
    whole = False

    async def receive_whole() -> HTTPReceiveMessage | WebSocketReceiveMessage:
        nonlocal whole
        message = await receive()
        if message["type"] == "http.disconnect" and not whole:
            raise InvalidInput("the request broke off before its body was whole")
        whole = whole or not message.get("more_body", False)
        return message

    return receive_whole
