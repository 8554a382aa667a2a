"""What workers share: the same behaviour in memory and in PostgreSQL."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import uuid4

import pytest

from app.database.engine import connect
from app.domain.errors import NotFound
from app.domain.evidence import snapshot_hash
from app.domain.outside_calls import CallEnding
from app.outside_calls.storage import CacheLimits, OutsideCallStore
from retrieval.outside.memory import MemorySharedStore
from retrieval.outside.ports import SharedStore

TENTH = timedelta(seconds=0.1)
HOUR = timedelta(hours=1)


@pytest.fixture(params=["memory", "postgres"])
async def shared(request: pytest.FixtureRequest, postgres_url: str) -> AsyncIterator[SharedStore]:
    if request.param == "memory":
        yield MemorySharedStore()
        return
    pool = await connect(postgres_url, largest=12)
    yield OutsideCallStore(pool)
    await pool.close()


@pytest.fixture
def name() -> str:
    return uuid4().hex


async def test_a_full_bucket_gives_its_burst_at_once_and_then_a_slot_at_a_time(shared: SharedStore, name: str) -> None:
    waits = [await shared.take(name, HOUR, 3, 5 * HOUR) for _ in range(5)]
    assert waits[:3] == [timedelta(0)] * 3
    assert [round(wait / HOUR, 2) for wait in waits[3:] if wait is not None] == [1.0, 2.0]


async def test_parallel_takers_get_different_slots(shared: SharedStore, name: str) -> None:
    waits = await asyncio.gather(*(shared.take(name, HOUR, 1, 99 * HOUR) for _ in range(30)))
    assert sorted(round(wait / HOUR, 1) for wait in waits if wait is not None) == [float(hours) for hours in range(30)]


async def test_a_slot_that_comes_too_late_is_not_taken(shared: SharedStore, name: str) -> None:
    assert await shared.take(name, HOUR, 1, HOUR * 1.5) == timedelta(0)
    assert await shared.take(name, HOUR, 1, HOUR * 1.5) is not None
    assert await shared.take(name, HOUR, 1, HOUR * 1.5) is None
    last = await shared.take(name, HOUR, 1, 3 * HOUR)
    assert last is not None
    assert round(last / HOUR, 2) == 2.0


async def test_a_bucket_fills_again_but_not_beyond_its_burst(shared: SharedStore, name: str) -> None:
    for _ in range(3):
        await shared.take(name, TENTH, 3, HOUR)
    await asyncio.sleep(0.5)
    began = time.monotonic()
    waits = [await shared.take(name, TENTH, 3, HOUR) for _ in range(8)]
    filled_meanwhile = timedelta(seconds=time.monotonic() - began) // TENTH + 1
    assert waits[:3] == [timedelta(0)] * 3
    assert waits.count(timedelta(0)) <= 3 + filled_meanwhile


async def test_a_held_lane_lets_nobody_through(shared: SharedStore, name: str) -> None:
    await shared.hold(name, HOUR)
    await shared.hold(name, TENTH)
    assert await shared.take(name, TENTH, 5, HOUR / 2) is None
    wait = await shared.take(name, TENTH, 5, 2 * HOUR)
    assert wait is not None
    assert round(wait / HOUR, 2) == 1.0


async def test_a_call_is_claimed_once_and_its_result_kept(shared: SharedStore, name: str) -> None:
    assert await shared.begin(name, HOUR, HOUR) == (None, True)
    assert await shared.begin(name, HOUR, HOUR) == (None, False)
    at = await shared.finish(name, b"result", {})
    kept, mine = await shared.begin(name, HOUR, HOUR)
    assert kept is not None
    assert (kept.body, kept.fetched_at, mine) == (b"result", at, False)
    assert timedelta(0) <= kept.age < timedelta(minutes=10)


async def test_a_result_that_is_too_old_is_fetched_again(shared: SharedStore, name: str) -> None:
    await shared.finish(name, b"old", {})
    await asyncio.sleep(0.05)
    assert await shared.begin(name, timedelta(milliseconds=20), HOUR) == (None, True)
    await shared.finish(name, b"new", {})
    kept, _ = await shared.begin(name, HOUR, HOUR)
    assert kept is not None
    assert kept.body == b"new"


async def test_a_claim_ends_when_given_back_or_when_its_holder_is_gone(shared: SharedStore, name: str) -> None:
    await shared.begin(name, HOUR, HOUR)
    await shared.release(name)
    assert await shared.begin(name, HOUR, timedelta(milliseconds=20)) == (None, True)
    await asyncio.sleep(0.05)
    assert await shared.begin(name, HOUR, HOUR) == (None, True)


async def test_texts_are_found_by_their_hash(shared: SharedStore, name: str) -> None:
    text = f"snippet {name} \x00 雪"
    await shared.finish(name, b"", {snapshot_hash(text): text})
    await shared.finish(f"{name}2", b"", {snapshot_hash(text): text})
    assert await shared.text(snapshot_hash(text)) == text
    with pytest.raises(NotFound):
        await shared.text(snapshot_hash(name))


async def test_the_store_adds_up_counts_and_sweeps(postgres_url: str, name: str) -> None:
    pool = await connect(postgres_url)
    store = OutsideCallStore(pool)
    ending = CallEnding(name, "answered", 100)
    await store.count({ending: 2, CallEnding(name, "failed", 30): 1})
    await store.count({ending: 3})
    assert {e: n for e, n in await store.list_counts(7) if e.tool == name} == {ending: 5, CallEnding(name, "failed", 30): 1}

    await store.sweep(CacheLimits(timedelta(0)))
    for number in range(5):
        await store.finish(f"{name}{number}", b"x" * 1_000, {})
    await store.begin(f"{name}-claimed", HOUR, HOUR)
    assert await store.sweep(CacheLimits(results_bytes=3_600)) == 2
    kept = [await store.begin(f"{name}{number}", HOUR, HOUR) for number in range(5)]
    assert [opening.kept is not None for opening in kept] == [False, False, True, True, True]
    assert await store.begin(f"{name}-claimed", HOUR, HOUR) == (None, False)
    await pool.close()
