"""The whole stack while its clock jumps: API, worker, retrieval and PostgreSQL see another time of day than this test.

Debian's libfaketime moves their clock while they run, and leaves the monotonic clock alone. Temporal's server is a static binary:
its clock stays right, and what a jump of that does is not tried here.
"""

import asyncio
import contextlib
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from infra.local.home import Home
from infra.local.lock import read_state
from infra.local.postgres import DATABASE, USER, read_running_url
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_script import RunShape
from tests.support.stack import RUBRICA, command_environment, heed_interrupt

pytestmark = [pytest.mark.extra("faketime"), pytest.mark.timeout(1_800)]

NO = timedelta(0)
JUMPS = (timedelta(hours=2), NO, timedelta(hours=-3), NO, timedelta(days=40), NO)
# A run of this shape makes some calls one after the other: they take longer than a stage takes to look whether it must end.
SHAPE, LATENCY = RunShape(subtasks=1, turns=2, searches=1, sections=1), timedelta(seconds=4)
HALF_AN_HOUR = {"max_seconds": 1_800}


class Clock:
    """A clock for other programs, so and so far from the machine's."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "offset"
        folder.chmod(0o755)  # PostgreSQL may be another account's
        self.set(NO)

    def set(self, offset: timedelta) -> None:
        """Let the clock jump."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{offset.total_seconds():+.0f}\n")
        new.chmod(0o644)
        new.rename(self._file)

    @property
    def environment(self) -> dict[str, str]:
        """What a program is started with that goes by this clock."""
        [library] = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
        options = {"TIMESTAMP_FILE": str(self._file), "DONT_FAKE_MONOTONIC": "1", "CACHE_DURATION": "1"}
        return {"LD_PRELOAD": str(library)} | {f"FAKETIME_{name}": value for name, value in options.items()}


@dataclass
class JumpingStack:
    """A stack that is up, as its owner uses it."""

    clock: Clock
    home: Home
    session: aiohttp.ClientSession
    stub: ModelStub

    async def send(self, method: str, path: str, json: Any = None, **headers: str) -> tuple[int, Any]:
        """Return the status and the body of an answer."""
        async with self.session.request(method, path, json=json, headers=headers) as answer:
            return answer.status, await answer.json(content_type=None)

    async def ask(self, question: str) -> str:
        """Ask a question that has half an hour."""
        asked = {"question": question, "effort": "quick", "budget": HALF_AN_HOUR}
        status, run = await self.send("POST", "/v1/runs", asked)
        assert status == 201, run
        return str(run["id"])

    async def wait_until_a_model_was_called(self, run: str) -> None:
        while (await self.send("GET", f"/v1/runs/{run}"))[1]["usage"]["model_calls"] == 0:
            await asyncio.sleep(0.2)

    async def wait_for_end(self, run: str) -> str:
        while (found := (await self.send("GET", f"/v1/runs/{run}"))[1])["status"] in ("queued", "running"):
            await asyncio.sleep(0.2)
        return f"{found['status']} {found['detail']}".strip()

    async def jump(self, offset: timedelta) -> None:
        """Set the clock, and wait until the database and the API go by it."""
        self.clock.set(offset)
        connection = await asyncpg.connect(read_running_url(self.home.postgres, DATABASE, USER))
        try:
            while not _is_near(await connection.fetchval("SELECT clock_timestamp()"), offset):
                await asyncio.sleep(0.2)
        finally:
            await connection.close()
        while True:
            status, made = await self.send("POST", "/v1/keys", {"name": "jump", "scopes": ["runs:read"]})
            assert status == 201, made
            if _is_near(datetime.fromisoformat(made["info"]["created_at"]), offset):
                return
            await asyncio.sleep(0.2)


def _is_near(moment: datetime, offset: timedelta) -> bool:
    return abs(moment - datetime.now(UTC) - offset) < timedelta(minutes=30)


def start_stack(output: Path, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    with output.open("wb") as written:
        return subprocess.Popen(
            [*RUBRICA, "up", "--no-ui"], env=environment, stdout=written, stderr=written, preexec_fn=heed_interrupt
        )


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[JumpingStack]:
    home = Home(tmp_path / "home")
    async with contextlib.AsyncExitStack() as closing:
        clock = Clock(Path(closing.enter_context(tempfile.TemporaryDirectory())))
        stub = await closing.enter_async_context(serve_model_stub(ModelStub(latency=LATENCY, shape=SHAPE)))
        model = {"RUBRICA_LLM_BASE_URL": stub.base_url, "RUBRICA_LLM_MODEL": "stub"}
        # Nothing is fetched: the index goes without a model of its own.
        cut_off = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
        environment = command_environment(RUBRICA_HOME=str(home.root), **model) | cut_off | clock.environment
        up = start_stack(tmp_path / "up.out", environment)
        closing.callback(up.wait)
        closing.callback(up.send_signal, signal.SIGINT)
        while b"Ctrl-C stops" not in (tmp_path / "up.out").read_bytes():
            assert up.poll() is None, (tmp_path / "up.out").read_text()
            await asyncio.sleep(0.1)
        state = read_state(home.state)
        assert state is not None
        headers = {"Authorization": f"Bearer {home.ensure_api_key()}"}
        session = aiohttp.ClientSession(state.api, headers=headers, timeout=aiohttp.ClientTimeout(total=None))
        yield JumpingStack(clock, home, await closing.enter_async_context(session), stub)


async def test_jumps_and_the_ways_back_end_no_run_lock_nobody_out_and_delete_nothing(stack: JumpingStack) -> None:
    before = await stack.ask("How did presidents justify tariffs before 1900?")
    assert await stack.wait_for_end(before) == "completed"
    assert (await stack.send("PUT", "/v1/retention", {"runs_days": 30, "events_days": 30}))[0] == 200
    _, made = await stack.send("POST", "/v1/keys", {"name": "paced", "scopes": ["runs:read"]})
    paced = {"Authorization": f"Bearer {made['key']}"}
    pace = {"requests_per_minute": 30, "key_id": made["info"]["id"]}
    assert (await stack.send("PUT", "/v1/quotas", pace))[0] == 200
    for offset in JUMPS:
        under_way = await stack.ask(f"What did presidents say of silver, {offset}?")
        await stack.wait_until_a_model_was_called(under_way)
        assert (await stack.send("GET", f"/v1/runs/{before}", **paced))[0] == 200
        await stack.jump(offset)
        assert (under_way, await stack.wait_for_end(under_way)) == (under_way, "completed")
        assert (await stack.send("GET", f"/v1/runs/{under_way}/report"))[0] == 200
        for _ in range(60):  # seconds, in which the key's bucket fills
            if (answer := await stack.send("GET", f"/v1/runs/{before}", **paced))[0] != 429:
                break
            await asyncio.sleep(1)
        assert answer[0] == 200
    assert (await stack.send("GET", f"/v1/runs/{before}/report"))[0] == 200
