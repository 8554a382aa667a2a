"""Tag answers with ETags: a read whose answer the client has already gets 304 without a body.

The tag is a digest of the answer, so handlers need not help.
"""

import hashlib

from litestar.datastructures import Headers
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

# Clients ask again each time, and shared caches keep nothing.
CACHING = (b"cache-control", b"private, no-cache")
NOT_WITHOUT_BODY = (b"content-type", b"content-length")


class ConditionalAnswers:
    """ASGI middleware that puts a tag on every whole answer to a GET, and answers 304 where the client names that tag."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or say that nothing has changed."""
        if scope["type"] == ScopeType.HTTP and scope["method"] in ("GET", "HEAD"):
            known = Headers.from_scope(scope).get("if-none-match", "")
            send = _TaggingSend(send, {tag.strip().removeprefix("W/") for tag in known.split(",")})
        await self._app(scope, receive, send)


class _TaggingSend:
    def __init__(self, send: Send, known: set[str]) -> None:
        self._send = send
        self._known = known
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            self._start = message
        elif self._start is not None and message["type"] == "http.response.body":
            start, self._start = self._start, None
            if message.get("more_body", False):
                await self._send(start)
                await self._send(message)
            else:
                await self._send_whole(start, message)
        else:
            await self._send(message)

    async def _send_whole(self, start: Message, message: Message) -> None:
        headers = list(start["headers"])  # type: ignore[typeddict-item]
        tag = next((value.decode("latin-1") for name, value in headers if name.lower() == b"etag"), None)
        if tag is None:
            tag = f'"{hashlib.sha256(message["body"]).hexdigest()[:32]}"'  # type: ignore[typeddict-item]
            headers.append((b"etag", tag.encode()))
            headers += [] if any(name.lower() == CACHING[0] for name, _ in headers) else [CACHING]
        if tag not in self._known and "*" not in self._known:
            start["headers"] = headers  # type: ignore[typeddict-unknown-key]
            await self._send(start)
            await self._send(message)
            return
        kept = [(name, value) for name, value in headers if name.lower() not in NOT_WITHOUT_BODY]
        await self._send({"type": "http.response.start", "status": 304, "headers": kept})
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
