"""Guard the page's server before every request and every websocket.

The page may act for its owner without a sign-in, and every web page that its user opens can reach it. Two checks keep those out:
the `Host` header must be one of ours (a page that rebinds its name to 127.0.0.1 still sends its own name), and what a browser
writes, by a form or by a websocket, must come from our own origin.
"""

from collections.abc import Collection, Mapping
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
READ_METHODS = ("GET", "HEAD", "OPTIONS")
HEALTH = "/_stcore/health"


def read_host_names(environment: Mapping[str, str], address: str | None = None) -> frozenset[str]:
    """Return the names that the server answers to: this machine's, those of its settings, and the `address` it listens on."""
    public = (urlsplit(environment.get(f"RUBRICA_{name}_URL", "")).netloc for name in ("PUBLIC", "PAGE"))
    allowed = environment.get("RUBRICA_ALLOWED_HOSTS", "").split(",")
    names = {_name_of(name.strip().lower()) for name in (*public, *allowed, _as_host(address or ""))}
    return LOCAL_HOSTS | (names - {""})


class HostGuard:
    """An ASGI application in front of another. Health checks may use any host name: they address the server by number."""

    def __init__(self, app: ASGIApp, allowed_hosts: Collection[str]) -> None:
        self._app = app
        self._allowed = frozenset(allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or refuse it."""
        refusal = self._find_refusal(scope) if scope["type"] in ("http", "websocket") else None
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.phrase})
        else:
            await PlainTextResponse(f"{refusal.phrase}: see RUBRICA_ALLOWED_HOSTS", refusal)(scope, receive, send)

    def _find_refusal(self, scope: Scope) -> HTTPStatus | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if scope["path"] != HEALTH and _name_of(host) not in self._allowed:
            return HTTPStatus.MISDIRECTED_REQUEST
        if scope["type"] == "http" and scope["method"] in READ_METHODS:
            return None
        origin = headers.get("origin")
        foreign = origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}")
        alien = foreign or headers.get("sec-fetch-site") in ("cross-site", "same-site")
        return HTTPStatus.FORBIDDEN if alien else None


def _name_of(host: str) -> str:
    """Return the host without its port; an IPv6 address keeps its brackets."""
    return host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]


def _as_host(address: str) -> str:
    return f"[{address}]" if ":" in address else address
