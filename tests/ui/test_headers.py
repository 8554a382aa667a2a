"""What every answer of the page's own server carries."""

from typing import Any

import pytest

from ui.server import SecurityHeaders, app


async def asked(application: Any, path: str) -> dict[str, str]:
    """A GET request of the server; the headers of its answer."""
    told: list[Any] = []
    scope = {
        **{"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http"},
        **{"path": path, "raw_path": path.encode(), "root_path": "", "query_string": b"", "headers": [(b"host", b"localhost")]},
        **{"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2), "state": {}},
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    await application(scope, receive, send)
    return {name.decode(): value.decode() for name, value in told[0]["headers"]}


async def plain(scope: Any, receive: Any, send: Any) -> None:
    headers = [(b"referrer-policy", b"no-referrer")] if scope["path"] == "/own" else []
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("path", ["/", "/own", "/static/a.js"])
async def test_every_answer_is_marked_and_its_own_headers_stand(path: str) -> None:
    told = await asked(SecurityHeaders(plain), path)
    policy = set(told["content-security-policy"].split("; "))
    assert {"default-src 'self'", "object-src 'none'", "frame-ancestors 'none'", "form-action 'self'"} <= policy
    [scripts] = [rule for rule in policy if rule.startswith("script-src")]
    assert "unsafe-inline" not in scripts
    assert "'unsafe-eval'" not in scripts
    assert (told["x-content-type-options"], told["x-frame-options"]) == ("nosniff", "DENY")
    assert told["referrer-policy"] == ("no-referrer" if path == "/own" else "same-origin")
    assert told["cross-origin-opener-policy"] == "same-origin"


async def test_the_server_itself_stands_behind_them_and_a_shared_page_is_held_tighter() -> None:
    told = await asked(app, "/shared/none")
    assert told["x-content-type-options"] == "nosniff"
    assert {"sandbox", "default-src 'none'", "frame-ancestors 'none'"} <= set(told["content-security-policy"].split("; "))
    assert (told["x-robots-tag"], told["referrer-policy"], told["cache-control"]) == ("noindex", "no-referrer", "no-store")
