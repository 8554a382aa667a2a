"""Carry out a write once that a client repeats with the same `Idempotency-Key`, because its answer was lost.

A refused request (4xx) leaves the key free, and so does one that is to be repeated (503). Other failures, after which nobody
knows what was carried out, and answers that stream, that are large, or that show a secret are not stored: repeating such a
request is a conflict, never a second run.
"""

import asyncio
import hashlib
import re
from http import HTTPStatus

from litestar.datastructures import Headers
from litestar.enums import ScopeType
from litestar.types import (
    ASGIApp,
    HTTPReceiveMessage,
    HTTPRequestEvent,
    HTTPScope,
    Message,
    Receive,
    Scope,
    Send,
    WebSocketReceiveMessage,
)

from app.accounts.nouns.access import Principal
from app.domain.errors import InvalidInput
from app.http.guard import READ_METHODS
from app.idempotency.service import HeldKey, IdempotencyKeys, IdempotentAnswer, KeyClaim

# The `opt` of a route whose answer shows a secret once: the answer must not be stored in a table.
SHOWN_ONCE = {"shown_once": True}
KEY = re.compile(r"[\x21-\x7e]{1,255}")
MAX_BODY_BYTES = 1_000_000


class Idempotency:
    """ASGI middleware that stands behind authentication."""

    def __init__(self, app: ASGIApp, keys: IdempotencyKeys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, once for each key."""
        principal = scope.get("user")
        if scope["type"] != ScopeType.HTTP or scope["method"] in READ_METHODS or not isinstance(principal, Principal):
            await self._app(scope, receive, send)
            return
        key = Headers.from_scope(scope).get("idempotency-key")
        if key is None:
            await self._app(scope, receive, send)
            return
        if not KEY.fullmatch(key):
            raise InvalidInput("an Idempotency-Key has 1 to 255 visible ASCII characters; a UUID is a good one")
        body = await _read_body(receive)
        claim = KeyClaim(principal.key_id or principal.user_id, key, _digest_of(scope, body))
        begun = await self._keys.begin(claim)
        if isinstance(begun, IdempotentAnswer):
            await _send_answer(send, begun)
        else:
            await self._carry_out(begun, scope, _replay_body(body, receive), send)

    async def _carry_out(self, held: HeldKey, scope: HTTPScope, receive: Receive, send: Send) -> None:
        recording = RecordingSend(send, bool(scope["route_handler"].opt.get("shown_once")))
        try:
            await self._app(scope, receive, recording)
        except BaseException:
            # Also when the client goes away: the stored answer must not depend on whether it waits for it.
            await asyncio.shield(self._keys.release(held) if recording.is_refusal else self._keys.store_answer(held, None))
            raise
        if recording.is_refusal:
            await self._keys.release(held)
        else:
            await asyncio.shield(self._keys.store_answer(held, recording.answer))


class RecordingSend:
    """A sender that passes a response on and keeps a copy, if the response may be stored."""

    def __init__(self, send: Send, secret: bool) -> None:
        self._send = send
        self._keeps = not secret
        self._status = 0
        self._headers: list[tuple[str, str]] = []
        self._body = bytearray()
        self._whole = False

    @property
    def is_refusal(self) -> bool:
        """True when the answer says that nothing was carried out."""
        return 400 <= self._status < 500 or self._status == HTTPStatus.SERVICE_UNAVAILABLE

    @property
    def answer(self) -> IdempotentAnswer | None:
        """The whole answer; None where it cannot be stored, or says that something failed."""
        kept = self._keeps and self._whole and self._status < 500
        return IdempotentAnswer(self._status, self._headers, bytes(self._body)) if kept else None

    async def __call__(self, message: Message) -> None:
        """Record the message and pass it on."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]]
            kind = dict(self._headers).get("content-type", "")
            self._keeps = self._keeps and not kind.startswith("text/event-stream")
        elif message["type"] == "http.response.body":
            self._keeps = self._keeps and len(self._body) + len(message.get("body", b"")) <= MAX_BODY_BYTES
            if self._keeps:
                self._body += message.get("body", b"")
            self._whole = not message.get("more_body", False)
        await self._send(message)


async def _read_body(receive: Receive) -> bytes:
    """Read the request's body.

    Raises:
        InvalidInput: the body is too large to be compared.
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise InvalidInput("an Idempotency-Key can be sent with bodies of up to 1 MB; send this one without it")
        if not message.get("more_body", False):
            return bytes(body)


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a receiver of the body that was read already, then of what comes after it."""
    read = False

    async def replay() -> HTTPReceiveMessage | WebSocketReceiveMessage:
        nonlocal read
        if read:
            return await receive()
        read = True
        return HTTPRequestEvent(type="http.request", body=body, more_body=False)

    return replay


def _digest_of(scope: HTTPScope, body: bytes) -> bytes:
    digest = hashlib.sha256()
    kind = Headers.from_scope(scope).get("content-type", "")
    for part in (scope["method"].encode(), scope["path"].encode(), scope["query_string"], kind.encode(), body):
        digest.update(b"%d:%b" % (len(part), part))
    return digest.digest()


async def _send_answer(send: Send, answer: IdempotentAnswer) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers]
    headers.append((b"idempotency-replayed", b"true"))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})
