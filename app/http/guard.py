"""Guard the server before every request: it decides which requests are let in, and adds headers to every response.

A server on the loopback is reachable from every web page its user opens. Two checks keep those out: the `Host` header must be
one of ours (a page that rebinds its name to 127.0.0.1 still sends its own name), and a browser's write must come from our
own origin.
"""

import re
from collections.abc import Collection, Iterable
from uuid import uuid4

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from app.http.logs import CURRENT_REQUEST
from app.http.refusals import RequestRefusal, send_refusal

Headers = Iterable[tuple[bytes, bytes]]

LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
READ_METHODS = ("GET", "HEAD", "OPTIONS")
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
DEFAULT_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
# Browsers that come by https use nothing else for a year.
HTTPS_HEADER = (b"strict-transport-security", b"max-age=31536000")


class HostGuard:
    """An ASGI application in front of another. Health checks may use any host name: they address the server by number.

    `https`: browsers reach the server by https.
    """

    def __init__(self, app: ASGIApp, allowed_hosts: Collection[str], origins: Collection[str] = (), https: bool = False) -> None:
        self._app = app
        self._headers = (*DEFAULT_HEADERS, HTTPS_HEADER) if https else DEFAULT_HEADERS
        self._allowed = frozenset(host.lower() for host in allowed_hosts)
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or refuse it."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        CURRENT_REQUEST.set(request_id := _request_id_of(headers))
        reply = _add_headers(send, request_id, self._headers)
        refusal = self._find_refusal(scope["method"], scope["path"], headers)
        if refusal is None:
            await self._app(scope, receive, reply)
        else:
            await send_refusal(reply, refusal)

    def _find_refusal(self, method: str, path: str, headers: dict[str, str]) -> RequestRefusal | None:
        host = headers.get("host", "").lower()
        if path != "/health" and _host_name_of(host) not in self._allowed:
            names = ", ".join(sorted(self._allowed))
            detail = f"this server answers to the names {names}, not {host[:100]!r}; allow more with RUBRICA_ALLOWED_HOSTS"
            return RequestRefusal(421, "misdirected-request", "Misdirected request", detail)
        if method in READ_METHODS:
            return None
        origin = headers.get("origin")
        if origin in self._origins:
            return None
        foreign = origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}")
        if foreign or headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return RequestRefusal(403, "foreign-origin", "Forbidden", "a page of another origin may not change anything here")
        return None


def _host_name_of(host: str) -> str:
    """Return the host without its port; an IPv6 address keeps its brackets."""
    return host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]


def _request_id_of(headers: dict[str, str]) -> str:
    given = headers.get("x-request-id", "")
    return given if REQUEST_ID.fullmatch(given) else uuid4().hex


def _add_headers(send: Send, request_id: str, defaults: Headers) -> Send:
    """Add the request's id, and each default header that the response does not set itself."""

    async def reply(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                *_complete_headers(message.get("headers", ()), defaults),
                (b"x-request-id", request_id.encode()),
            ]
        await send(message)

    return reply


def _complete_headers(headers: Headers, defaults: Headers) -> list[tuple[bytes, bytes]]:
    stated = list(headers)
    names = {name.lower() for name, _ in stated}
    return stated + [(name, value) for name, value in defaults if name not in names]
