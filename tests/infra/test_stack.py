"""The whole stack as a user runs it: `rubrica up`, its children, its end, and whatever else happens to it."""

import asyncio
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import psutil
import pytest

from app.settings import Settings
from infra.cli.connection import Connection, open_api
from infra.local.home import Home
from infra.local.lock import StackState, read_state
from infra.local.ports import LOOPBACK, find_free_port
from infra.local.service import get_http_status
from infra.local.stack import Stack
from tests.support.stack import RUBRICA, command_environment, heed_interrupt, run_rubrica

QUESTION = {"question": "How did presidents justify tariffs before 1900?", "effort": "quick"}


class Up:
    """A running `rubrica up`."""

    def __init__(self, home: Path, **settings: str) -> None:
        self.home = Home(home)
        self.output = home.parent / "up.out"
        settings = command_environment(RUBRICA_HOME=str(home), **settings)
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*RUBRICA, "up", "--no-ui"],
                env=settings,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=heed_interrupt,
            )

    @property
    def state(self) -> StackState:
        state = read_state(self.home.state)
        assert state is not None
        return state

    async def ready(self) -> None:
        """Until everything has started."""
        while b"Ctrl-C stops" not in self.output.read_bytes():
            assert self.process.poll() is None, self.output.read_text()
            await asyncio.sleep(0.05)

    def end(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        return self.process.wait()


def belonging_to(home: Path) -> dict[int, str]:
    """Processes that name this home in their command or environment, other than this one."""
    found = {}
    for process in psutil.process_iter():
        try:
            said = [*process.cmdline(), process.environ().get("RUBRICA_HOME", "")]
            if process.status() != psutil.STATUS_ZOMBIE and any(str(home) in part for part in said):
                found[process.pid] = " ".join(said)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


async def wait_until_nothing_runs(home: Path) -> None:
    while belonging_to(home):
        await asyncio.sleep(0.1)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for this module, with a space in its path; its first start makes the database."""
    return tmp_path_factory.mktemp("a stack") / "home"


def headers(home: Home) -> dict[str, str]:
    return {"Authorization": f"Bearer {home.ensure_api_key()}"}


@pytest.fixture
def up(home: Path) -> Iterator[Up]:
    running = Up(home)
    yield running
    if running.process.poll() is None:
        running.end(signal.SIGINT)


async def test_ctrl_c_stops_all_of_it_and_nothing_stays(up: Up, home: Path) -> None:
    await up.ready()
    assert set(up.state.processes) == {"Temporal", "retrieval", "worker", "api"}
    assert await get_http_status(up.state.api, "/health") == 200
    retrieval = str(up.state.retrieval)
    assert up.end(signal.SIGINT) == 130
    assert not belonging_to(home)
    assert not up.home.state.exists()
    assert not Path(retrieval.removeprefix("unix:")).parent.exists()


async def test_a_killed_supervisor_takes_its_children_along_and_the_next_start_finds_everything(up: Up, home: Path) -> None:
    await up.ready()
    async with (
        aiohttp.ClientSession(headers=headers(up.home)) as session,
        session.post(up.state.api + "/v1/runs", json=QUESTION) as answer,
    ):
        assert answer.status == 201
        run_id = (await answer.json())["id"]
    up.end(signal.SIGKILL)
    await wait_until_nothing_runs(home)
    again = Up(home)
    try:
        await again.ready()
        async with (
            aiohttp.ClientSession(headers=headers(up.home)) as session,
            session.get(f"{again.state.api}/v1/runs/{run_id}") as answer,
        ):
            assert (await answer.json())["id"] == run_id
    finally:
        assert again.end(signal.SIGTERM) == 143


async def test_a_service_that_dies_is_started_again_at_the_same_address(up: Up) -> None:
    await up.ready()
    before = up.state
    for name in ("api", "worker", "retrieval", "Temporal"):
        os.kill(before.processes[name][0], signal.SIGKILL)
    while any(up.state.processes.get(name, (0, 0.0))[0] in (0, pid) for name, (pid, _) in before.processes.items()):
        await asyncio.sleep(0.1)
    assert (up.state.api, up.state.temporal, up.state.retrieval) == (before.api, before.temporal, before.retrieval)
    while await get_http_status(up.state.api, "/health") != 200:
        await asyncio.sleep(0.1)
    assert "worker ended (signal 9)" in up.output.read_text()


async def test_a_worker_that_hangs_is_noticed_and_replaced(up: Up) -> None:
    await up.ready()
    frozen = up.state.processes["worker"][0]
    async with aiohttp.ClientSession(headers=headers(up.home), base_url=up.state.api) as session:

        async def read(path: str) -> Any:
            async with session.get(path) as answer:
                return await answer.json()

        while (await read("/health"))["parts"]["workers"] != {"ok": True, "detail": ""}:
            await asyncio.sleep(0.1)
        os.kill(frozen, signal.SIGSTOP)
        async with session.post("/v1/runs", json=QUESTION) as answer:
            run_id = (await answer.json())["id"]
        while (health := await read("/health"))["ok"]:
            await asyncio.sleep(0.1)
        assert [name for name, part in health["parts"].items() if not part["ok"]] == ["workers"]
        while (await read(f"/v1/runs/{run_id}"))["status"] != "completed":
            await asyncio.sleep(0.2)
        while not (await read("/health"))["ok"]:
            await asyncio.sleep(0.1)
    assert up.state.processes["worker"][0] != frozen
    assert "worker does not respond any more; starting it again" in up.output.read_text()


async def test_a_second_stack_on_the_same_home_is_refused_with_the_first_ones_address(up: Up, home: Path) -> None:
    await up.ready()
    second = await asyncio.to_thread(run_rubrica, home, "up")
    assert second.returncode == 2
    assert "already running" in second.stderr
    assert up.state.api in second.stderr
    for listing in (("runs", "list"), ("tools",)):
        listed = await asyncio.to_thread(run_rubrica, home, *listing)
        assert listed.returncode == 0, listed.stderr
    assert up.process.poll() is None


async def test_two_stacks_that_start_at_once_have_an_api_each(tmp_path: Path) -> None:
    wanted, started = find_free_port(), list[Up]()
    for name in ("one", "other"):
        home = Home(tmp_path / name / "home")
        home.root.mkdir(parents=True, mode=0o700)
        home.ports.write_text(json.dumps({"api": wanted}))
        started.append(Up(home.root, RUBRICA_API_PORT=""))
    try:
        for up in started:
            await up.ready()
            async with aiohttp.ClientSession(headers=headers(up.home)) as session, session.get(up.state.api + "/v1/me") as me:
                assert me.status == 200
            assert "starting it again" not in up.output.read_text()
        assert wanted in {urlsplit(up.state.api).port for up in started}
    finally:
        for up in started:
            up.end(signal.SIGINT)


async def test_work_that_is_done_before_the_stack_is_complete_does_not_end_the_start_of_a_part(tmp_path: Path) -> None:
    stack, ready = Stack(Settings(home=tmp_path), with_ui=False, say=print), asyncio.Event()
    part = asyncio.create_task(ready.wait())
    stack._rest.append(part)
    async with open_api("http://127.0.0.1:1") as api:
        assert await Connection(api, None, stack).run_while_healthy(asyncio.sleep(0, "done")) == "done"
    ready.set()
    assert await part


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = run_rubrica(tmp_path / "home", "up", RUBRICA_API_PORT=port)
    assert refused.returncode == 2
    assert f"port {port} is in use by another program; stop it, or choose another port with RUBRICA_API_PORT" in refused.stderr


async def test_given_servers_replace_the_local_ones(tmp_path: Path, api_urls: tuple[str, str], temporal_address: str) -> None:
    port = str(find_free_port())
    databases = {"RUBRICA_DATABASE_URL": api_urls[0], "RUBRICA_WORKER_DATABASE_URL": api_urls[1]}
    given = {**databases, "RUBRICA_TEMPORAL_ADDRESS": temporal_address, "RUBRICA_API_PORT": port}
    running = Up(tmp_path / "home", **given)
    try:
        await running.ready()
        assert set(running.state.processes) == {"retrieval", "worker", "api"}
        assert running.state.api == f"http://{LOOPBACK}:{port}"
        assert running.state.temporal == temporal_address
        assert not running.home.postgres.exists()
    finally:
        assert running.end(signal.SIGINT) == 130
