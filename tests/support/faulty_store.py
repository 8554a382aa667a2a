"""A proxy before a store that speaks S3's protocol, with the faults of real ones: refusals, cuts, wrong bytes, silence."""

import http.client
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass
class Fault:
    """What befalls requests of a method whose path has a text, so many times (negative: for ever).

    `after`: so many of them pass first. `status`: they are refused with it. `cut`: the connection ends in the middle of the
    request's body, or of the answer's. `damage`: a byte of either body is changed. `until`: the request is held so long.
    """

    method: str
    path: str
    times: int = 1
    status: int | None = None
    cut: bool = False
    damage: bool = False
    until: threading.Event | None = None
    after: int = 0


@dataclass
class FaultyStore:
    """The store behind the proxy, its faults, and the requests that came: method and path."""

    store: str
    faults: list[Fault] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    address: str = ""

    def take_fault(self, method: str, path: str) -> Fault | None:
        self.asked.append((method, path))
        for fault in self.faults:
            if fault.times and fault.method == method and fault.path in path:
                if fault.after:
                    fault.after -= 1
                else:
                    fault.times -= 1
                    return fault
        return None

    def count(self, method: str, path: str) -> int:
        return sum(each == method and path in asked for each, asked in self.asked)


@contextmanager
def running_faults(faulty: FaultyStore, tls: ssl.SSLContext | None = None) -> Iterator[FaultyStore]:
    """Serve the proxy on a free port."""

    class Handler(_Handler):
        store = faulty

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    faulty.address = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield faulty
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    store: FaultyStore

    def do_PUT(self) -> None:
        fault = self.store.take_fault(self.command, self.path)
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length // 2 if fault and fault.cut and length else length)
        if fault and fault.until is not None:
            fault.until.wait()
        with suppress(OSError, http.client.HTTPException):  # either side has left
            if fault and fault.status:
                self._answer(fault.status, {}, b"")
            elif not (fault and fault.cut and length):
                self._pass_on(_damage(body) if fault and fault.damage else body, fault)

    do_GET = do_HEAD = do_POST = do_DELETE = do_PUT

    def _pass_on(self, body: bytes, fault: Fault | None) -> None:
        store = http.client.HTTPConnection(urlsplit(self.store.store).netloc)
        store.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            store.putheader(name, value)
        store.endheaders(body)
        answer = store.getresponse()
        told = answer.read()
        told = _damage(told) if fault and fault.damage else told
        self._answer(answer.status, dict(answer.headers), told, bool(fault and fault.cut))
        store.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes, cut: bool = False) -> None:
        length = headers.get("Content-Length", "0") if self.command == "HEAD" else str(len(body))
        kept = {name: value for name, value in headers.items() if name.lower() not in SET_HERE}
        self.send_response(status)
        for name, value in {**kept, "Content-Length": length, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)

    def log_message(self, format: str, *args: object) -> None:
        pass


SET_HERE = ("content-length", "connection", "transfer-encoding", "date", "server")


def _damage(body: bytes) -> bytes:
    return bytes([body[0] ^ 1]) + body[1:] if body else body
