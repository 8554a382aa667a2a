"""The official MCP conformance, against our server over streamable HTTP."""

import asyncio
import json
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from app.http.server import bind
from bench.conformance.outcome import Outcome
from bench.conformance.packages import find_node, find_package
from bench.fuzz_api import FuzzTarget, start_target
from infra.cli.connection import open_api
from infra.cli.mcp_serving import CallersWithKeys, make_configuration

PACKAGE = "@modelcontextprotocol/conformance"
SCENARIOS = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection", "server-sse-multiple-streams")
OUT = {
    "tools-*, json-schema-*": "these call tools that only the suite's own server has",
    "elicitation-*, tools-call-sampling": "our server asks its clients nothing",
    "resources-*, prompts-*, completion-*": "our server offers tools alone",
    "logging-set-level": "our server sends progress, no log",
    "server-sse-polling": "a request has no session: a broken one is sent again, and `research_wait` goes on where the run is",
}


class WithKey:
    """The server with a key in front: the suite sends none."""

    def __init__(self, app: Any, key: str) -> None:
        self._app, self._header = app, (b"authorization", f"Bearer {key}".encode())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Add the key to a request."""
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)


def check_mcp_server(folder: Path) -> Outcome:
    """Run the scenarios that a server of tools can be asked for."""
    node, suite = find_node(folder), find_package(folder, PACKAGE) / "dist" / "index.js"
    with tempfile.TemporaryDirectory() as place, start_target(Path(place) / "api") as target, serve(target) as url:
        parts = [run_scenario([node, str(suite), "server", "--url", url], name, Path(place)) for name in SCENARIOS]
    failed = {name: wrong for part in parts for name, wrong in part.failed.items()}
    return Outcome(sum(part.passed for part in parts), OUT, failed)


@contextmanager
def serve(target: FuzzTarget) -> Iterator[str]:
    """Serve our tools over HTTP in a thread; yield the address of the endpoint."""
    configuration = make_configuration(CallersWithKeys(), None, lambda key: open_api(target.address, key), None)
    configuration.app = WithKey(configuration.app, target.key)
    server = uvicorn.Server(configuration)
    with bind("127.0.0.1", 0) as listening:
        serving = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
        serving.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            serving.join()


def run_scenario(command: list[str], name: str, place: Path, environment: Mapping[str, str] | None = None) -> Outcome:
    """Run one scenario and read the checks that the suite wrote about it."""
    out = place / name.replace("/", "-")
    done = subprocess.run(
        [*command, "--scenario", name, "--output-dir", str(out)],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    found = [check for file in out.rglob("checks.json") for check in json.loads(file.read_text())]
    wrong = {f"{name}: {c['id']}": c.get("errorMessage", "") for c in found if c["status"] == "FAILURE"}
    if not found:
        return Outcome(0, failed={name: (done.stderr or done.stdout).strip()[-300:]})
    return Outcome(sum(check["status"] == "SUCCESS" for check in found), failed=wrong)
