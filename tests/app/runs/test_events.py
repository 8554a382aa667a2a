"""The event stream, as a client sees it that may lose its connection at any time."""

import asyncio
from uuid import UUID

import asyncpg

from app.domain.run import EventType, RunStatus
from app.runs.storage.run_log import RunLog
from tests.app.served_api import ApiClient
from tests.support.accounts import HOME_KEY

WRITERS = 8
EACH = 40


async def test_the_stream_tells_everything_and_ends_with_the_run(api: ApiClient, run_log: RunLog) -> None:
    run = await api.ask("Who goes there?")
    watching = await _watching(api, run)
    await run_log.append_event(UUID(run), EventType.WARNING, "search/s1", {"message": "a \u0000 b\n\nc"})
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    events = await watching
    assert [event["type"] for event in events] == ["run_created", "status_changed", "warning", "status_changed"]
    assert [event["seq"] for event in events] == [1, 2, 3, 4]
    assert events[0]["payload"] == {
        "question": "Who goes there?",
        "system": "minddr",
        "effort": "standard",
        "language": "en",
        "collections": [],
        "corpora": True,
        "suggested": False,
    }
    assert (events[2]["agent"], events[2]["payload"]) == ("search/s1", {"message": "a \ufffd b\n\nc"})
    assert events[2]["run_id"] == run
    assert await _collect(api, run) == events


async def test_frames_carry_number_and_type(api: ApiClient, run_log: RunLog) -> None:
    run = await api.ask()
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    reply = await api.get(f"/v1/runs/{run}/events")
    assert reply.body.startswith(b"retry: ")
    assert b"\n\nid: 3\nevent: status_changed\ndata: {" in reply.body
    assert reply.body.endswith(b"\n\n")


async def test_a_watcher_who_comes_back_misses_nothing(api: ApiClient, run_log: RunLog) -> None:
    """Several write at once while a watcher drops his connection again and again; he has every event once and in order."""
    run = await api.ask()
    writing = asyncio.create_task(_write(run_log, UUID(run)))
    seen: list[int] = []
    while not seen or seen[-1] < WRITERS * EACH + 3:
        last = seen[-1] if seen else 0
        count = 0
        async for event in api.events(run, headers={"Last-Event-ID": str(last)}):
            seen.append(event["seq"])
            count += 1
            if count == 23:
                break
    await writing
    assert seen == list(range(1, WRITERS * EACH + 4))


async def test_many_watchers_see_the_same(api: ApiClient, run_log: RunLog) -> None:
    run = await api.ask()
    watching = [asyncio.create_task(_collect(api, run, after)) for after in range(50)]
    await _write(run_log, UUID(run))
    everything = list(range(1, WRITERS * EACH + 4))
    for after, watcher in enumerate(watching):
        assert [event["seq"] for event in await watcher] == everything[after:]


async def test_a_watcher_who_does_not_read_holds_up_nobody(api: ApiClient, run_log: RunLog) -> None:
    run = await api.ask()
    address = api.address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(address[0], int(address[1]), limit=1_024)
    writer.write(f"GET /v1/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {HOME_KEY}\r\n\r\n".encode())
    await reader.readuntil(b"run_created")
    for _ in range(60):
        await run_log.append_event(UUID(run), EventType.WARNING, "", {"message": "x" * 100_000})
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    assert len(await _collect(api, run)) == 63
    writer.close()


async def test_a_lost_listening_connection_loses_no_event(api: ApiClient, run_log: RunLog, pool: asyncpg.Pool) -> None:
    run = await api.ask()
    watching = await _watching(api, run)
    while not await pool.fetchval(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND query ILIKE 'listen%' AND pid <> pg_backend_pid()"
    ):
        await asyncio.sleep(0.02)
    await run_log.append_event(UUID(run), EventType.WARNING, "", {"message": "while nobody listened"})
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    events = await watching
    assert [event["seq"] for event in events] == [1, 2, 3, 4]


async def test_a_restarted_database_is_survived(api: ApiClient, run_log: RunLog, postgres_url: str) -> None:
    run = await api.ask()
    watching = await _watching(api, run)
    admin = await asyncpg.connect(postgres_url)
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    ended = await admin.fetch(f"SELECT pid, pg_terminate_backend(pid) {others}")
    assert len(ended) > 2
    while await admin.fetchval(f"SELECT count(*) {others} AND pid = ANY($1)", [row["pid"] for row in ended]):
        await asyncio.sleep(0.02)
    await admin.close()
    assert (await api.get(f"/v1/runs/{run}")).status == 200
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    assert [event["seq"] for event in await watching] == [1, 2, 3]


async def test_a_number_from_the_future_waits_for_what_comes_after_it(api: ApiClient, run_log: RunLog) -> None:
    run = await api.ask()
    watching = [asyncio.create_task(_collect(api, run, after)) for after in (3, 9_999_999_999)]
    await asyncio.sleep(0.1)
    await run_log.append_event(UUID(run), EventType.WARNING, "", {"message": "third"})
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    near, far = [await watcher for watcher in watching]
    assert ([event["seq"] for event in near], far) == ([4], [])


async def test_watching_a_finished_run_from_its_end_ends_at_once(api: ApiClient, run_log: RunLog) -> None:
    run = await api.ask()
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    assert await _collect(api, run, after=3) == []


async def _watching(api: ApiClient, run: str) -> asyncio.Task[list[dict[str, object]]]:
    """A watcher of a run that has begun, who was told that it has."""
    begun = asyncio.Event()

    async def watch() -> list[dict[str, object]]:
        seen = []
        async for event in api.events(run):
            seen.append(event)
            if len(seen) == 2:
                begun.set()
        return seen

    task = asyncio.create_task(watch())
    await begun.wait()
    return task


async def _collect(api: ApiClient, run: str, after: int = 0) -> list[dict[str, object]]:
    return [event async for event in api.events(run, after)]


async def _write(run_log: RunLog, run_id: UUID) -> None:
    async def one(name: int) -> None:
        for n in range(EACH):
            await run_log.append_event(run_id, EventType.WARNING, f"search/s{name}", {"message": f"{n}"})
            await asyncio.sleep(0)

    await asyncio.gather(*(one(name) for name in range(WRITERS)))
    await run_log.set_status(run_id, RunStatus.COMPLETED)
