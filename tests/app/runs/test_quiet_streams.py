"""Streams under bad conditions: a log that was cut, a database that hangs, clients that are slow or vanish."""

import asyncio
import dataclasses
import socket
import struct
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest

from app.accounts.nouns.access import LOCAL_ORGANISATION, Role
from app.domain.run import EventType, RunStatus
from app.http.services import Services
from app.runs.service.live_events import LiveEvents
from app.runs.service.open_streams import OpenStreams
from app.runs.storage.events import EventListener
from app.runs.storage.run_log import RunLog
from tests.app.database.conftest import add_member
from tests.app.served_api import ApiClient, serve_api
from tests.support.accounts import HOME_KEY

QUIET = timedelta(seconds=0.3)


@pytest.fixture
async def impatient(services: Services, pool: asyncpg.Pool, postgres_url: str) -> AsyncIterator[tuple[ApiClient, LiveEvents]]:
    """An API that calls 0.3 s quiet."""
    live = LiveEvents(pool, pool, QUIET)
    listening = asyncio.create_task(EventListener(postgres_url, live.note_growth, live.read_all_again).run())
    async with serve_api(dataclasses.replace(services, live=live)) as client:
        yield client, live
    listening.cancel()


async def test_what_the_log_does_not_keep_is_told_as_a_gap(api: ApiClient, run_log: RunLog, pool: asyncpg.Pool) -> None:
    run = await api.ask()
    for n in range(8):
        await run_log.append_event(UUID(run), EventType.WARNING, "", {"message": str(n)})
    await pool.execute("DELETE FROM events WHERE run_id = $1 AND seq <= 6", UUID(run))
    watching = asyncio.create_task(_collect(api, run, 2))
    await asyncio.sleep(0.1)
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    told = await watching
    assert [(event["seq"], event["type"]) for event in told[:2]] == [(6, "gap"), (7, "warning")]
    assert told[0]["payload"] == {"after": 2, "next": 7}
    assert [event["seq"] for event in told] == list(range(6, 12))
    assert [event["seq"] for event in await _collect(api, run, 6)] == list(range(7, 12))
    await pool.execute("DELETE FROM events WHERE run_id = $1", UUID(run))
    [gap] = await _collect(api, run, 9)
    assert (gap["type"], gap["payload"]) == ("gap", {"after": 9, "next": 12})


async def test_a_database_that_hangs_silences_no_stream(
    impatient: tuple[ApiClient, LiveEvents], run_log: RunLog, postgres_url: str
) -> None:
    api, _ = impatient
    run = await api.ask()
    holder = await asyncpg.connect(postgres_url)
    async with api.session.get(f"{api.address}/v1/runs/{run}/events") as response:
        assert (await response.content.readline()).startswith(b"retry: ")
        async with holder.transaction():
            await holder.execute("LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
            began = time.monotonic()
            while time.monotonic() - began < 4:
                assert await response.content.readline()
        await run_log.set_status(UUID(run), RunStatus.COMPLETED)
        rest = await response.content.read()
    assert b'"completed"' in rest
    await holder.close()


async def test_clients_that_vanish_leave_nothing_behind(impatient: tuple[ApiClient, LiveEvents]) -> None:
    api, live = impatient
    run = await api.ask()
    host, port = api.address.removeprefix("http://").split(":")
    opened = [await asyncio.open_connection(host, int(port)) for _ in range(20)]
    for reader, writer in opened:
        head = f"Host: localhost\r\nAuthorization: Bearer {HOME_KEY}"
        writer.write(f"GET /v1/runs/{run}/events HTTP/1.1\r\n{head}\r\n\r\n".encode())
        await reader.readuntil(b"run_created")
    assert live.watched_count == 1
    for _, writer in opened:
        # No farewell: the connection is reset, as by a machine that lost its power and came back.
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()
    while live.watched_count:
        await asyncio.sleep(0.05)


async def test_an_organisation_has_so_many_streams_at_a_time(services: Services, pool: asyncpg.Pool) -> None:
    async with serve_api(dataclasses.replace(services, streams=OpenStreams(pool, most=3))) as api:
        run = await api.ask()
        opened = [await _asked(api, run) for _ in range(3)]
        refused = await asyncio.gather(*(api.get(f"/v1/runs/{run}/events") for _ in range(20)))
        assert {reply.status for reply in refused} == {429}
        assert (refused[0].json["type"], refused[0].headers["Retry-After"]) == ("urn:rubrica:problem:too-many-requests", "10")
        assert "3 event streams" in refused[0].json["detail"]
        assert (await api.get(f"/v1/runs/{run}")).status == 200
        opened[0][1].close()
        while not (again := await _first_line(api, run)).startswith(b"retry: "):
            await asyncio.sleep(0.05)
        assert again
        for _, writer in opened[1:]:
            writer.close()


async def test_a_person_has_so_many_streams_and_leaves_the_others_their_own(services: Services, pool: asyncpg.Pool) -> None:
    async with serve_api(dataclasses.replace(services, streams=OpenStreams(pool, of_person=2))) as api:
        run = await api.ask()
        opened = [await _asked(api, run) for _ in range(2)]
        refused = await api.get(f"/v1/runs/{run}/events")
        assert refused.is_problem(429)
        assert "you have 2 event streams open" in refused.json["detail"]
        colleague = await add_member(pool, LOCAL_ORGANISATION, Role.VIEWER)
        async with api.session.get(
            f"{api.address}/v1/runs/{run}/events", headers={"Authorization": f"Bearer {colleague}"}
        ) as response:
            assert (await response.content.readline()).startswith(b"retry: ")
        for _, writer in opened:
            writer.close()


async def _asked(api: ApiClient, run: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A stream that has begun, of which little is taken in before it is read."""
    host, port = api.address.removeprefix("http://").split(":")
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    narrow.connect((host, int(port)))
    reader, writer = await asyncio.open_connection(sock=narrow, limit=1_024)
    head = f"Host: localhost\r\nAuthorization: Bearer {HOME_KEY}\r\nConnection: close"
    writer.write(f"GET /v1/runs/{run}/events HTTP/1.1\r\n{head}\r\n\r\n".encode())
    await reader.readuntil(b"run_created")
    return reader, writer


async def _first_line(api: ApiClient, run: str) -> bytes:
    async with api.session.get(f"{api.address}/v1/runs/{run}/events") as response:
        return await response.content.readline()


async def _collect(api: ApiClient, run: str, after: int) -> list[dict[str, object]]:
    return [event async for event in api.events(run, after)]
