"""The policy behind a server: it is told to load each new adapter, and its refusal is said."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from app.domain.errors import ModelUnavailable
from training.recipes.reinforcement.served_policy import ServedPolicy


@contextmanager
def serve(status: int, asked: list[tuple[str, dict[str, object]]]) -> Iterator[str]:
    """Serve a vLLM that answers every request with this status."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path, json.loads(body)))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"no such rank")

        def log_message(self, *_: object) -> None:
            return None

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def test_each_version_is_saved_and_loaded_in_the_place_of_the_one_before(tmp_path: Path) -> None:
    asked: list[tuple[str, dict[str, object]]] = []
    saved: list[Path] = []

    async def read_versions(policy: ServedPolicy) -> list[int]:
        async with policy.open_engine() as engine:
            before = engine.policy_version
            await asyncio.to_thread(policy.give_weights, 7)
            return [before, engine.policy_version]

    with serve(200, asked) as url:
        policy = ServedPolicy(url, tmp_path, saved.append)
        policy.give_weights(3)
        assert asyncio.run(read_versions(policy)) == [3, 7]
    assert saved == [tmp_path, tmp_path]
    assert asked == [("/v1/load_lora_adapter", {"lora_name": "policy", "lora_path": str(tmp_path), "load_inplace": True})] * 2


def test_a_server_that_refuses_the_adapter_is_quoted(tmp_path: Path) -> None:
    with serve(400, []) as url, pytest.raises(ModelUnavailable, match="no such rank"):
        ServedPolicy(url, tmp_path, lambda _: None).give_weights(1)
    with pytest.raises(ModelUnavailable, match="no answer"):
        ServedPolicy("http://127.0.0.1:9/v1", tmp_path, lambda _: None).give_weights(1)
