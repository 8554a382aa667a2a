"""Equal calls: they are joined, and answered from what was kept, within a worker and across workers."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.database.engine import connect
from app.domain.errors import ToolUnavailable
from app.outside_calls.storage import OutsideCallStore
from retrieval.outside.entrance import Entrance
from retrieval.outside.freshness import limit_age
from retrieval.outside.http import HttpExchange
from retrieval.outside.memory import MemorySharedStore
from retrieval.outside.provider import Provider
from retrieval.outside.trial import OutsideFailed
from tests.retrieval.outside.entrance_calls import FAST, GOOD, SECOND, Call, call_through, count_outcomes
from tests.support.outside_stub import (
    OutsideStub,
    answer_after,
    answer_when,
    refuse_with,
)


async def test_equal_calls_at_once_are_one_and_later_ones_are_answered_from_what_is_kept(
    stub: OutsideStub, call: Call, entrance: Entrance
) -> None:
    stub.otherwise = answer_after(0.1, GOOD)
    first, second = await asyncio.gather(call(), call())
    third = await call()
    assert len(stub.seen) == 1
    assert first == second
    assert not first.age
    assert third.age > timedelta(0)
    assert third.fetched_at == first.fetched_at
    assert count_outcomes(entrance) == {"answered": 1, "joined": 1, "kept": 1}


async def test_a_caller_who_gives_up_does_not_take_the_others_along(stub: OutsideStub, call: Call) -> None:
    let_go = asyncio.Event()
    stub.otherwise = answer_when(let_go, GOOD)
    impatient, patient = asyncio.create_task(call()), asyncio.create_task(call())
    while not stub.seen:
        await asyncio.sleep(0.01)
    impatient.cancel()
    let_go.set()
    assert (await patient).body == b"[1]"
    assert len(stub.seen) == 1


async def test_a_failure_is_not_kept(stub: OutsideStub, call: Call) -> None:
    stub.script.append(refuse_with(404))
    with pytest.raises(OutsideFailed):
        await call()
    assert (await call()).body == b"[1]"


async def test_nothing_is_kept_where_the_provider_says_so(stub: OutsideStub, call: Call) -> None:
    fresh = Provider("fresh", 1_000, max_age=timedelta(0))
    await call(provider=fresh)
    await call(provider=fresh)
    assert len(stub.seen) == 2


async def test_workers_join_through_the_database(stub: OutsideStub, exchange: HttpExchange, postgres_url: str) -> None:
    stub.otherwise = answer_after(0.1, GOOD)
    pools = [await connect(postgres_url) for _ in range(2)]
    calls = [call_through(stub, exchange, Entrance(OutsideCallStore(pool))) for pool in pools]
    answers = await asyncio.gather(*(call("shared") for call in calls for _ in range(3)))
    assert {answer.body for answer in answers} == {b"[1]"}
    assert len(stub.seen) == 1
    for pool in pools:
        await pool.close()


async def test_the_claim_of_a_worker_that_died_is_waited_for_only_so_long(stub: OutsideStub, exchange: HttpExchange) -> None:
    shared = MemorySharedStore()
    call = call_through(stub, exchange, Entrance(shared))
    await call()
    (key,) = shared.kept
    shared.kept.clear()
    await shared.begin(key, SECOND, 100 * SECOND)
    began = asyncio.get_running_loop().time()
    assert (await call(patience=8 * SECOND)).body == b"[1]"
    assert asyncio.get_running_loop().time() - began > 3.9, "half of the patience is for the other's answer"


async def test_an_unreachable_database_is_an_outage_to_wait_out(
    stub: OutsideStub, exchange: HttpExchange, postgres_url: str
) -> None:

    pool: Any = await connect(postgres_url)
    await pool.close()
    with pytest.raises(ToolUnavailable):
        await call_through(stub, exchange, Entrance(OutsideCallStore(pool)))()
    assert stub.seen == []


async def test_who_wants_to_know_what_is_true_now_gets_no_old_answer(call: Call, stub: OutsideStub) -> None:
    first = await call()
    await asyncio.sleep(0.05)
    assert (await call()).fetched_at == first.fetched_at
    with limit_age(timedelta(seconds=0.02)):
        second = await call()
        assert second.fetched_at > first.fetched_at
        assert (await call("y", replace(FAST, max_age=timedelta(0)))).age == timedelta(0)
    with limit_age(timedelta(hours=1)):
        assert (await call()).fetched_at == second.fetched_at
