"""The API as a process of its own: how it starts, what it needs, how it ends."""

import asyncio
import contextlib
import os
import resource
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import psutil
import pytest

from infra.local.ports import find_free_port
from infra.local.service import ANSWER_LIMIT, get_http_status
from tests.support.accounts import HOME_HEADERS

NOWHERE = "127.0.0.1:1"
WAITS_FOR_RUNS = "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'runs'::regclass AND NOT granted)"


async def start(port: int, *options: str, files: tuple[int, int] | None = None, **variables: str) -> Process:
    """Start the API; `files` are how many it may have open, and how many the machine allows."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUBRICA_")} | variables
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "app.http", "--port", str(port), *options),
        env=environment,
        stdout=PIPE,
        stderr=PIPE,
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, files)) if files else None,
    )


def settings(urls: tuple[str, str]) -> dict[str, str]:
    api, worker = urls
    return {"RUBRICA_DATABASE_URL": api, "RUBRICA_WORKER_DATABASE_URL": worker, "RUBRICA_TEMPORAL_ADDRESS": NOWHERE}


@pytest.fixture
def port() -> int:
    return find_free_port()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
async def test_it_starts_light_without_temporal_and_ends_when_told(
    api_urls: tuple[str, str], port: int, ending: signal.Signals
) -> None:
    process = await start(port, **settings(api_urls))
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=HOME_HEADERS) as session:
        assert not (await _with_a_database(session))["parts"]["workflows"]["ok"]
        async with session.post("/v1/runs", json={"question": "Is it stored?"}) as reply:
            assert (reply.status, (await reply.json())["status"]) == (201, "queued")
    assert psutil.Process(process.pid).memory_info().rss < 200 * 2**20
    process.send_signal(ending)
    _, errors = await process.communicate()
    assert process.returncode == 0, errors
    assert b"Traceback" not in errors


async def test_half_requests_do_not_end_it(api_urls: tuple[str, str], port: int, tmp_path: Path) -> None:
    """More of them than it may have files: it answers others as before, and the socket at which its supervisor asks."""
    pulse, patience = tmp_path / "pulse", 100 * ANSWER_LIMIT
    process = await start(port, "--health-socket", str(pulse), files=(256, 256), **settings(api_urls))
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=HOME_HEADERS) as session:
        await _with_a_database(session)
    halves = []
    for number in range(600):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        halves.append(writer)
        if number % 100 == 99:
            assert await get_http_status(f"unix:{pulse}", "/", patience) == 200
            async with (
                aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=HOME_HEADERS) as session,
                session.get("/v1/me") as reply,
            ):
                assert reply.status == 200
    assert psutil.Process(process.pid).num_fds() < 256
    for writer in halves:
        writer.close()
    process.terminate()
    _, errors = await process.communicate()
    assert process.returncode == 0, errors
    assert b"Traceback" not in errors


@pytest.mark.parametrize(("method", "said"), [("GET", "it is back in a moment"), ("POST", "whether this was carried out")])
async def test_what_its_end_breaks_off_may_be_asked_again(
    api_urls: tuple[str, str], postgres_url: str, port: int, method: str, said: str
) -> None:
    """The database holds an answer back for longer than the API waits at its end."""
    process = await start(port, **settings(api_urls))
    holder = await asyncpg.connect(postgres_url)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=HOME_HEADERS) as session, holder.transaction():
        await _with_a_database(session)
        await holder.execute("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
        body = {"question": "Is it stored?"} if method == "POST" else None
        asked = asyncio.create_task(_ask(session, method, body))
        while not await holder.fetchval(WAITS_FOR_RUNS):
            await asyncio.sleep(0.05)
        process.terminate()
        status, headers, problem = await asked
    assert (status, problem["status"], problem["type"]) == (503, 503, "urn:rubrica:problem:unavailable")
    assert headers["Content-Type"] == "application/problem+json"
    assert headers.get("Retry-After") == ("2" if method == "GET" else None)
    assert said in problem["detail"]
    await holder.close()
    _, errors = await process.communicate()
    assert process.returncode == 0, errors


async def test_a_client_that_leaves_in_the_middle_of_a_body_is_no_error_of_the_server(
    api_urls: tuple[str, str], port: int
) -> None:
    process = await start(port, **settings(api_urls))
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=HOME_HEADERS) as session:
        await _with_a_database(session)
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        key = HOME_HEADERS["Authorization"]
        head = f"Host: localhost\r\nAuthorization: {key}\r\nContent-Type: application/json\r\nContent-Length: 90"
        writer.write(f"POST /v1/runs HTTP/1.1\r\n{head}\r\n\r\n{{".encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        # Whatever is said of it, is said by now.
        assert (await _ask(session, "POST", {"question": "Is it stored?"}))[0] == 201
    process.terminate()
    _, errors = await process.communicate()
    assert b"unexpected error" not in errors


async def test_it_may_have_as_many_files_as_the_machine_allows(api_urls: tuple[str, str], port: int) -> None:
    process = await start(port, files=(256, 2_048), **settings(api_urls))
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        await _with_a_database(session)
    assert psutil.Process(process.pid).rlimit(psutil.RLIMIT_NOFILE) == (2_048, 2_048)
    process.terminate()
    await process.communicate()


async def test_a_taken_port_is_named(api_urls: tuple[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = await start(port, **settings(api_urls))
        _, errors = await process.communicate()
    assert process.returncode == 2
    assert f"127.0.0.1:{port}" in errors.decode()
    assert "--port" in errors.decode()
    assert "Traceback" not in errors.decode()


async def test_missing_settings_are_named(port: int) -> None:
    process = await start(port)
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert "RUBRICA_DATABASE_URL" in errors.decode()


@pytest.mark.parametrize("module", ["app.http.asgi", "app.runs.storage.run_log", "app.database.migrate"])
async def test_what_runs_all_the_time_loads_nothing_heavy(module: str) -> None:
    heavy = ("sqlalchemy", "sqlmodel", "alembic", "numpy", "torch", "onnxruntime", "temporalio", "aiohttp")
    heavy += ("typst", "pypandoc", "docx", "bibtexparser")
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=PIPE)
    output, _ = await process.communicate()
    assert output.strip() == b"[]"


async def _ask(session: aiohttp.ClientSession, method: str, body: object) -> tuple[int, Mapping[str, str], dict[str, Any]]:
    async with session.request(method, "/v1/runs", json=body) as reply:
        return reply.status, reply.headers, await reply.json(content_type=None)


async def _with_a_database(session: aiohttp.ClientSession) -> dict[str, dict[str, dict[str, bool]]]:
    """How it is, once it answers and has its database."""
    while True:
        with contextlib.suppress(aiohttp.ClientConnectionError):
            async with session.get("/health") as reply:
                health: dict[str, dict[str, dict[str, bool]]] = await reply.json()
                if health["parts"]["database"]["ok"]:
                    return health
        await asyncio.sleep(0.1)
