"""The page's own server: Streamlit, its guard, security headers, and signing in. Start it with `python -m ui`."""

import base64
import hashlib
import os
import re
from functools import cache
from pathlib import Path

import streamlit
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.starlette import App

from ui import shared_report, sign_in
from ui.guard import HostGuard, read_host_names
from ui.sign_in import SessionRenewal

HERE = Path(__file__).parent
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@cache
def build_content_policy() -> str:
    """Return the content security policy: scripts come from this server only, and the page loads nothing from elsewhere.

    Components of Streamlit are modules from `blob:` addresses. Its entry page has an inline script, which is allowed by its hash.
    """
    entry = (Path(streamlit.__file__).parent / "static" / "index.html").read_text("utf-8")
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in INLINE_SCRIPT.findall(entry))
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' blob: 'wasm-unsafe-eval' {hashes}".strip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


class SecurityHeaders:
    """An ASGI application in front of another that adds the security headers which an answer lacks."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = {
            b"content-security-policy": build_content_policy().encode(),
            b"x-content-type-options": b"nosniff",
            b"x-frame-options": b"DENY",
            b"referrer-policy": b"same-origin",
            b"cross-origin-opener-policy": b"same-origin",
            b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the headers to the answer."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *((n, v) for n, v in self._headers.items() if n not in present)]
            await send(message)

        await self._app(scope, receive, answer if scope["type"] == "http" else send)


HOST_NAMES = read_host_names(os.environ, streamlit.get_option("server.address"))

app = App(
    HERE / "main.py",
    routes=[*sign_in.ROUTES, *shared_report.ROUTES],
    middleware=[Middleware(SecurityHeaders), Middleware(HostGuard, allowed_hosts=HOST_NAMES), Middleware(SessionRenewal)],
)
