"""The policy behind a server: it is told to load each new adapter, and its refusal is said."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="training needs what `make setup-train` installs")

from app.domain.errors import ModelUnavailable
from training.recipes.reinforcement.served_policy import ServedPolicy

pytestmark = pytest.mark.extra("trl")


def save_adapter(folder: Path) -> None:
    folder.mkdir(parents=True)


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


def test_each_version_is_an_adapter_of_its_own_and_old_ones_go(tmp_path: Path) -> None:
    asked: list[tuple[str, dict[str, object]]] = []

    async def give_three_versions(policy: ServedPolicy) -> list[int]:
        versions = []
        async with policy.open_engine() as engine:
            for version in (4, 7):
                versions.append(engine.policy_version)
                await asyncio.to_thread(policy.give_weights, version)
            versions.append(engine.policy_version)
        return versions

    with serve(200, asked) as url:
        policy = ServedPolicy(url, tmp_path / "served", save_adapter, kept=2)
        policy.give_weights(3)
        assert asyncio.run(give_three_versions(policy)) == [3, 4, 7]
    loaded = [body for path, body in asked if path == "/v1/load_lora_adapter"]
    names = [str(body["lora_name"]) for body in loaded]
    assert len(set(names)) == 3
    assert [body["lora_path"] for body in loaded] == [str(tmp_path / "served" / name) for name in names]
    first, *others = [body["lora_name"] for path, body in asked if path == "/v1/unload_lora_adapter"]
    assert [path for path, _ in asked].index("/v1/unload_lora_adapter") == 3, "the first goes when the third is there"
    assert [first, *others] == names
    assert list((tmp_path / "served").iterdir()) == []


def test_a_server_that_refuses_the_adapter_is_quoted(tmp_path: Path) -> None:
    with serve(400, []) as url, pytest.raises(ModelUnavailable, match="no such rank"):
        ServedPolicy(url, tmp_path, Path.mkdir).give_weights(1)
    with pytest.raises(ModelUnavailable, match="no answer"):
        ServedPolicy("http://127.0.0.1:9/v1", tmp_path, Path.mkdir).give_weights(1)
