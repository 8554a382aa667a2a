"""A hub of weights over a real socket, with the faults of real ones: cut off, slow, wrong bytes, without ranges, gone."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BLOCK = 1_000


@dataclass
class HubStub:
    """What the hub has, how it fails, and the `Range` of each request that came.

    `cut_after`: each answer breaks off after so many bytes; `pause_s` between two blocks; `ranges` False: it sends the whole.
    """

    content: bytes
    cut_after: int | None = None
    pause_s: float = 0.0
    ranges: bool = True
    status: int | None = None
    asked: list[str | None] = field(default_factory=list)
    address: str = ""


@contextmanager
def running_hub(hub: HubStub) -> Iterator[HubStub]:
    """Serve the hub on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            hub.asked.append(wanted)
            if hub.status is not None:
                self.send_error(hub.status)
                return
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and hub.ranges else 0
            rest = hub.content[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            for place in range(0, len(rest), BLOCK):
                if hub.cut_after is not None and place >= hub.cut_after:
                    self.close_connection = True
                    return
                with suppress(OSError):  # who asked has left
                    self.wfile.write(rest[place : place + BLOCK])
                time.sleep(hub.pause_s)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
