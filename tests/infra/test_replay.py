"""`rubrica runs replay` on a stack that runs, with a model server of two names."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from tests.infra.api_tour import sign_up_customer
from tests.infra.test_stack import Up
from tests.support.stack import ROOT, run_rubrica

NOTE = """# Pricing

In March 2024 the team decided that the subscription costs 10 dollars a month. The decision was unanimous, because customers had
asked for one simple price. Two further proposals, of a price by the seat and of a price by the hour, were turned down in April.
"""
QUESTION = "What was decided about pricing?"


@pytest.fixture(scope="module")
def model_address() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.support.model_stub", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.fixture
def up(model_address: str, tmp_path: Path) -> Iterator[Up]:
    """A stack with a model of two names, of which the second has a price."""
    named = {"RUBRICA_LLM_BASE_URL": model_address, "RUBRICA_LLM_MODEL": "one", "RUBRICA_LLM_ALTERNATIVES": "two=1/2"}
    up = Up(tmp_path / "home", **named)
    yield up
    up.end(signal.SIGTERM)


@pytest.mark.timeout(1_800)  # seven commands, each with its start
async def test_a_run_is_written_and_planned_again_and_the_operator_pays(up: Up, model_address: str, tmp_path: Path) -> None:
    async def call(*arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        named = {"RUBRICA_LLM_BASE_URL": model_address, "RUBRICA_LLM_MODEL": "one", "RUBRICA_LLM_ALTERNATIVES": "two=1/2"}
        return await asyncio.to_thread(run_rubrica, up.home.root, *arguments, folder=tmp_path, **named, **settings)

    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pricing.md").write_text(NOTE)
    await up.ready()
    asked = await call("ask", QUESTION, "--docs", "notes", "--effort", "quick")
    assert asked.returncode == 0, asked.stderr
    run = json.loads((tmp_path / asked.stdout.splitlines()[-1]).with_name("evidence.json").read_text())["run_id"]
    key = {"Authorization": f"Bearer {up.home.ensure_api_key()}"}
    async with aiohttp.ClientSession(up.state.api, headers=key) as session:
        before = await read_all(session, run)
        written = await call("runs", "replay", run[:8], "--model", "two")
        assert written.returncode == 0, written.stderr
        assert await read_all(session, run) == before
        async with session.get("/v1/usage") as answer:
            lines = [line for line in (await answer.json())["lines"] if line["kind"] == "draft"]
    assert {line["name"]: line["cost_microusd"] > 0 for line in lines} == {"two": True, "one": False}, (
        "writer, and the run's judge"
    )
    folder = tmp_path / "reports" / run
    assert (folder / "comparison.md").read_text() in written.stdout
    assert "| written by | minddr: one" in written.stdout
    assert "minddr: two" in written.stdout
    assert (folder / "stored.md").read_text() == before["report"]["markdown"]
    assert "## " in (folder / "replayed.md").read_text()

    planned = await call("runs", "replay", run, "--step", "planner", "--prompt", "plan=v2", "--out", "plans")
    assert planned.returncode == 0, planned.stderr
    assert json.loads((tmp_path / "plans" / run / "plan.json").read_text())["subtasks"]
    for refused, why in (((str(uuid4()), "--model", "two"), "there is no run"), ((run,), "nothing would differ")):
        done = await call("runs", "replay", *refused)
        assert (done.returncode, why in done.stderr) == (2, True), done.stderr
    async with sign_up_customer(up.state.api, "Others") as other:
        theirs = await call("runs", "replay", run, "--model", "two", RUBRICA_API_KEY=other.key)
    assert (theirs.returncode, f"there is no run {run}" in theirs.stderr) == (2, True), theirs.stderr


async def read_all(session: aiohttp.ClientSession, run: str) -> dict[str, Any]:
    """Return the run, its report and its events, as the API tells them."""
    found = {}
    for name, path in (("run", ""), ("report", "/report"), ("tape", "/tape")):
        async with session.get(f"/v1/runs/{run}{path}") as answer:
            assert answer.status == 200
            found[name] = await (answer.json() if answer.content_type == "application/json" else answer.text())
    return found
