"""The entrance against a server that misbehaves."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest

from app.database.engine import connect
from app.domain.errors import ToolUnavailable
from app.outside_calls.storage import OutsideCallStore
from retrieval.outside import http
from retrieval.outside.breaker import FAILURES
from retrieval.outside.entrance import Entrance, OutsideAnswer
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.freshness import limit_age
from retrieval.outside.http import HttpExchange, HttpRequest
from retrieval.outside.memory import MemorySharedStore
from retrieval.outside.provider import Provider
from retrieval.outside.trial import FetchedAnswer, OutsideFailed
from tests.support.outside_stub import (
    Behaviour,
    OutsideStub,
    answer_after,
    answer_when,
    answer_with,
    flood,
    hang_up,
    refuse_with,
    serve_outside,
)
from tests.support.patience import PATIENCE_S

LONG = timedelta(seconds=PATIENCE_S)
FAST = Provider("fast", per_second=1_000, burst=100, attempt_limit=LONG)
HASTY = replace(FAST, attempt_limit=timedelta(seconds=2))
GOOD = answer_with({"results": [1]})
GARBLED = answer_with(b"<html>not the protocol</html>")
SECOND = timedelta(seconds=1)
Call = Callable[..., Awaitable[OutsideAnswer]]


@pytest.fixture
async def stub() -> AsyncIterator[OutsideStub]:
    async with serve_outside(GOOD) as running:
        yield running


@pytest.fixture
async def exchange() -> AsyncIterator[HttpExchange]:
    async with http.open_exchange() as opened:
        yield opened


@pytest.fixture
def entrance() -> Entrance:
    return Entrance(MemorySharedStore(), draw=lambda: 0.01)


@pytest.fixture
def call(stub: OutsideStub, exchange: HttpExchange, entrance: Entrance) -> Call:
    return caller(stub, exchange, entrance)


def caller(stub: OutsideStub, exchange: HttpExchange, entrance: Entrance) -> Call:
    async def ask(what: str = "x", provider: Provider = FAST, patience: timedelta = LONG) -> OutsideAnswer:
        async def attempt() -> FetchedAnswer:
            body = await exchange.send(HttpRequest(stub.url, {"q": what}))
            try:
                return FetchedAnswer(orjson.dumps(orjson.loads(body)["results"]))
            except ValueError as error:
                raise CallFailed(Failure.GARBLED, "no JSON") from error

        return await entrance.call(provider, {"q": what}, attempt, patience)

    return ask


def counted(entrance: Entrance) -> Counter[str]:
    found: Counter[str] = Counter()
    for ending, n in entrance.meter.counts.items():
        found[ending.outcome] += n
    return found


@pytest.mark.parametrize(
    ("bad", "outcome"),
    [
        (refuse_with(500), "attempt_unavailable"),
        (refuse_with(503), "attempt_unavailable"),
        (refuse_with(408), "attempt_unavailable"),
        (refuse_with(425), "attempt_unavailable"),
        (refuse_with(429), "attempt_rate_limited"),
        (GARBLED, "attempt_garbled"),
        (flood, "attempt_garbled"),
        (hang_up, "attempt_unavailable"),
    ],
)
async def test_a_passing_failure_is_tried_again(
    stub: OutsideStub, call: Call, entrance: Entrance, bad: Behaviour, outcome: str
) -> None:
    stub.script += [bad, bad]
    assert (await call()).body == b"[1]"
    assert len(stub.seen) == 3
    assert counted(entrance) == {"answered": 1, outcome: 2}


async def test_an_attempt_that_takes_too_long_is_made_again(stub: OutsideStub, call: Call, entrance: Entrance) -> None:
    stub.script += [answer_after(PATIENCE_S, GOOD), answer_after(PATIENCE_S, GOOD)]
    assert (await call(provider=HASTY)).body == b"[1]"
    assert counted(entrance) == {"answered": 1, "attempt_timed_out": 2}


async def test_the_wait_between_attempts_grows(stub: OutsideStub, exchange: HttpExchange) -> None:
    stub.script += [refuse_with(503)] * 2
    await caller(stub, exchange, Entrance(MemorySharedStore(), draw=lambda: 0.5))()
    first, second, third = (seen.at for seen in stub.seen)
    assert second - first >= 0.24
    assert third - second >= 0.49


@pytest.mark.parametrize("code", [400, 401, 404, 410, 422, 301])
async def test_a_lasting_refusal_is_not(stub: OutsideStub, call: Call, code: int) -> None:
    stub.otherwise = refuse_with(code, "<p>because</p>")
    with pytest.raises(OutsideFailed, match=f"fast: status {code}: because"):
        await call()
    assert len(stub.seen) == 1


async def test_no_server_at_all_is_told_as_such(stub: OutsideStub, call: Call) -> None:
    stub.url = "http://127.0.0.1:9"
    with pytest.raises(OutsideFailed, match=r"fast: no answer \(ClientConnectorError\) \(2 attempts\)"):
        await call(provider=Provider("fast", 1_000, 10, attempts=2))


async def test_the_servers_wish_to_wait_holds_for_every_call(stub: OutsideStub, call: Call, entrance: Entrance) -> None:
    stub.script.append(refuse_with(429, Retry_After="1"))
    first = asyncio.create_task(call("one"))
    while not counted(entrance):
        await asyncio.sleep(0.01)
    await asyncio.gather(first, call("two"), call("three"))
    refused, *later = (seen.at for seen in stub.seen)
    assert len(later) == 3
    assert all(at - refused > 0.95 for at in later)


async def test_a_wish_for_no_wait_at_all_is_none(stub: OutsideStub, call: Call) -> None:
    stub.script += [refuse_with(429, Retry_After="0"), refuse_with(503, Retry_After="Thu, 01 Jan 1970 00:00:00 GMT")]
    assert (await call()).body == b"[1]"


async def test_each_part_of_a_provider_has_its_own_limit(stub: OutsideStub, exchange: HttpExchange, entrance: Entrance) -> None:
    hourly = Provider("page", per_second=1 / 3_600)

    async def attempt() -> FetchedAnswer:
        return FetchedAnswer(await exchange.send(HttpRequest(stub.url)))

    for host in ("a.example", "b.example"):
        await entrance.call(hourly, {"url": f"http://{host}/1"}, attempt, SECOND, host)
    with pytest.raises(OutsideFailed, match="rate limit leaves no room"):
        await entrance.call(hourly, {"url": "http://a.example/2"}, attempt, SECOND, "a.example")


async def test_a_wish_longer_than_our_patience_fails_at_once(stub: OutsideStub, call: Call) -> None:
    stub.script.append(refuse_with(503, "later", Retry_After="6000"))
    with pytest.raises(OutsideFailed, match="status 503: later"):
        await call()
    with pytest.raises(OutsideFailed, match="rate limit leaves no room"):
        await call("other")
    assert len(stub.seen) == 1


async def test_patience_bounds_everything(stub: OutsideStub, call: Call) -> None:
    stub.otherwise = answer_after(10 * PATIENCE_S, GOOD)
    with pytest.raises(OutsideFailed, match=r"no answer within|left alone"):
        await call(patience=SECOND)


async def test_calls_keep_to_the_limit(stub: OutsideStub, call: Call) -> None:
    slow = Provider("slow", per_second=20, burst=2)
    began = asyncio.get_running_loop().time()
    await asyncio.gather(*(call(str(number), slow) for number in range(12)))
    times = sorted(seen.at - began for seen in stub.seen)
    earliest = [0.0, *(number / 20 for number in range(11))]  # two at once, then twenty a second; a slow machine is later
    assert all(at > first - 0.01 for at, first in zip(times, earliest, strict=True)), times


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
    assert counted(entrance) == {"answered": 1, "joined": 1, "kept": 1}


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


async def test_a_provider_that_is_down_is_left_alone_and_comes_back(stub: OutsideStub, exchange: HttpExchange) -> None:
    now = [100.0]
    entrance = Entrance(MemorySharedStore(), clock=lambda: now[0], draw=lambda: 0.0)
    call = caller(stub, exchange, entrance)
    once = Provider("once", 1_000, 100, attempts=1)
    stub.otherwise = refuse_with(500)
    for number in range(FAILURES):
        with pytest.raises(OutsideFailed, match="status 500"):
            await call(str(number), once)
    with pytest.raises(OutsideFailed, match="once is left alone for now: status 500"):
        await call("more", once, patience=SECOND)
    assert len(stub.seen) == FAILURES
    now[0] += 6
    stub.otherwise = GOOD
    assert (await call("more", once)).body == b"[1]"
    assert (await call("again", once)).body == b"[1]"


async def test_a_refused_key_is_not_tried_again_with_the_next_call(stub: OutsideStub, call: Call) -> None:
    stub.otherwise = refuse_with(401, "no such key")
    with pytest.raises(OutsideFailed, match="check its key"):
        await call("one")
    with pytest.raises(OutsideFailed, match="left alone for now: status 401: no such key"):
        await call("two", patience=SECOND)
    assert len(stub.seen) == 1


async def test_workers_join_through_the_database(stub: OutsideStub, exchange: HttpExchange, postgres_url: str) -> None:
    stub.otherwise = answer_after(0.1, GOOD)
    pools = [await connect(postgres_url) for _ in range(2)]
    calls = [caller(stub, exchange, Entrance(OutsideCallStore(pool))) for pool in pools]
    answers = await asyncio.gather(*(call("shared") for call in calls for _ in range(3)))
    assert {answer.body for answer in answers} == {b"[1]"}
    assert len(stub.seen) == 1
    for pool in pools:
        await pool.close()


async def test_the_claim_of_a_worker_that_died_is_waited_for_only_so_long(stub: OutsideStub, exchange: HttpExchange) -> None:
    shared = MemorySharedStore()
    call = caller(stub, exchange, Entrance(shared))
    await call()
    (key,) = shared.kept
    shared.kept.clear()
    await shared.begin(key, SECOND, 100 * SECOND)
    began = asyncio.get_running_loop().time()
    assert (await call(patience=8 * SECOND)).body == b"[1]"
    assert asyncio.get_running_loop().time() - began > 3.9, "half of the patience is for the other's answer"


async def test_a_key_in_an_answer_is_not_repeated(stub: OutsideStub, exchange: HttpExchange) -> None:
    stub.otherwise = refuse_with(400, "the key s3cret is bad")
    with pytest.raises(CallFailed) as refused:
        await exchange.send(HttpRequest(stub.url, headers={"X-Key": "s3cret"}, secret="s3cret"))
    assert "s3cret" not in str(refused.value)
    assert "s3cret" not in repr(HttpRequest(stub.url, headers={"X-Key": "s3cret"}, secret="s3cret"))


async def test_an_unreachable_database_is_an_outage_to_wait_out(
    stub: OutsideStub, exchange: HttpExchange, postgres_url: str
) -> None:

    pool: Any = await connect(postgres_url)
    await pool.close()
    with pytest.raises(ToolUnavailable):
        await caller(stub, exchange, Entrance(OutsideCallStore(pool)))()
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
