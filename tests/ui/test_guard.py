"""Who is let in at the page's own server, by request and by websocket."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from tests.ui.real_page import serve_page
from ui.guard import read_host_names

NOBODY = "http://127.0.0.1:9"
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    with serve_page(NOBODY) as url:
        yield url


def status_of(page: str, method: str, path: str, headers: str) -> int:
    """The status of the answer to a request with exactly these headers."""
    parts = urlsplit(page)
    with socket.create_connection((str(parts.hostname), parts.port or 80)) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\n{headers}\r\n".encode())
        return int(connection.makefile("rb").readline().split()[1])


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8322", "127.0.0.1.evil.example", "", "localhost.", "[::2]:1"])
def test_a_page_that_rebinds_its_name_reaches_nothing(page: str, host: str) -> None:
    names = f"Host: {host}\r\n"
    assert status_of(page, "GET", "/", names) == 421
    assert status_of(page, "GET", "/_stcore/host-config", names) == 421
    assert status_of(page, "GET", "/_stcore/stream", f"{names}Origin: http://{host}\r\n{UPGRADE}") == 403
    assert status_of(page, "GET", "/_stcore/health", names) == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8322", "127.0.0.1:1", "[::1]:8322"])
def test_local_names_are_served(page: str, host: str) -> None:
    assert status_of(page, "GET", "/", f"Host: {host}\r\n") == 200
    assert status_of(page, "GET", "/_stcore/stream", f"Host: {host}\r\nOrigin: http://{host}\r\n{UPGRADE}") == 101


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:9", "http://0.0.0.0", "null"])
def test_a_foreign_page_opens_no_websocket_and_sends_no_form(page: str, origin: str) -> None:
    names = f"Host: localhost:8322\r\nOrigin: {origin}\r\n"
    assert status_of(page, "GET", "/_stcore/stream", names + UPGRADE) == 403
    assert status_of(page, "POST", "/enter", f"{names}Content-Length: 0\r\n") == 403
    assert status_of(page, "PUT", "/_stcore/upload_file/a/b", f"{names}Content-Length: 0\r\n") == 403


def test_a_browser_that_names_no_origin_but_its_site_is_believed(page: str) -> None:
    names = f"Host: localhost:8322\r\nSec-Fetch-Site: cross-site\r\n{UPGRADE}"
    assert status_of(page, "GET", "/_stcore/stream", names) == 403


def test_the_page_believes_nobody_who_says_for_whom_they_ask() -> None:
    asked: list[str] = []

    class Api(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.headers["X-Forwarded-For"])
            self.send_response(401)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as api, serve_page(f"http://127.0.0.1:{api.server_port}", key="") as page:
        threading.Thread(target=api.serve_forever, daemon=True).start()
        told = "Host: localhost\r\nOrigin: http://localhost\r\nX-Forwarded-For: 203.0.113.9\r\nContent-Length: 0\r\n"
        assert status_of(page, "POST", "/enter", told) == 303
        api.shutdown()
    assert asked == ["127.0.0.1"]


def test_the_names_of_the_settings_and_of_the_listening_address_count() -> None:
    settings = {
        "RUBRICA_PUBLIC_URL": "https://Rubrica.example:8443/x",
        "RUBRICA_PAGE_URL": "https://page.example",
        "RUBRICA_ALLOWED_HOSTS": "a.example, b.example",
    }
    named = read_host_names(settings, "fe80::1")
    assert named >= {"rubrica.example", "page.example", "a.example", "b.example", "[fe80::1]", "localhost"}
    assert read_host_names({}) == {"127.0.0.1", "localhost", "[::1]"}
