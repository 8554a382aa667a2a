"""A stand-in for a model server: `/v1/embeddings` and `/v1/rerank` over a real socket, which can be slow, wrong and down."""

import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

KEY = "a-key"


class ModelServer:
    """A server that listens from `start` to `stop`. Each of `mishaps` and of `cuts` spoils one request; then all goes well.

    A mishap is a status to answer with, or a number of seconds to wait first (a float). A cut is a header that tells of more than
    what is sent before the connection ends. `refuse` returns status and body where it refuses these texts to embed.
    """

    def __init__(self, size: int = 24) -> None:
        self.size = size
        self.mishaps: deque[int | float] = deque()
        self.cuts: deque[tuple[str, str]] = deque()
        self.retry_after = ""
        self.spoil: Any = None
        self.refuse: Callable[[list[str]], tuple[int, Any] | None] = lambda _: None
        self.bodies: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def start(self) -> None:
        """Answer in threads of its own."""
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Close the port."""
        self._server.shutdown()
        self._server.server_close()

    def _make_handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = owner.take_mishap() if self.headers.get("Authorization") == f"Bearer {KEY}" else 401
                content = owner.answer(self.path, body) if status == 200 else {"error": "no"}
                if status == 200 and (refused := owner.refuse(body.get("input", []))):
                    status, content = refused
                sent = content if isinstance(content, bytes) else json.dumps(content).encode()
                if owner.cuts:
                    self.send_cut_off(owner.cuts.popleft())
                    return
                self.send_response(status)
                if owner.retry_after:
                    self.send_header("Retry-After", owner.retry_after)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def send_cut_off(self, header: tuple[str, str]) -> None:
                self.protocol_version = "HTTP/1.1"
                self.send_response(200)
                self.send_header(*header)
                self.end_headers()
                self.wfile.write(b'ff\r\n{"data"')
                self.close_connection = True

            def log_message(self, *_: object) -> None:
                """Keep the test's output clean."""

        return Handler

    def take_mishap(self) -> int:
        """Return the status to answer with, after a wait where one is due."""
        due = self.mishaps.popleft() if self.mishaps else 200
        if isinstance(due, float):
            time.sleep(due)
            return 200
        return due

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Return the answer of a sound server, unless `spoil` changes it."""
        self.bodies.append(body)
        if path == "/v1/embeddings":
            entries = [{"index": n, "embedding": self.make_vector(text)} for n, text in enumerate(body["input"])]
            answer: Any = {"data": entries[::-1], "model": body["model"]}
        else:
            words = set(body["query"].lower().split())
            shares = [len(words & set(text.lower().split())) / len(words) for text in body["documents"]]
            answer = {"results": [{"index": n, "relevance_score": share} for n, share in enumerate(shares)][::-1]}
        return self.spoil(answer) if self.spoil else answer

    def make_vector(self, text: str) -> list[float]:
        """Return a text's own vector, not of unit length."""
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        return [float(x) for x in 3 * np.random.default_rng(seed).standard_normal(self.size)]
