"""The entrance against a server that misbehaves."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from aiohttp import web

from retrieval.outside.breaker import FAILURES
from retrieval.outside.entrance import Entrance
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.http import HttpExchange, HttpRequest
from retrieval.outside.memory import MemorySharedStore
from retrieval.outside.provider import Provider
from retrieval.outside.trial import FetchedAnswer, OutsideFailed
from tests.retrieval.outside.entrance_calls import FAST, GOOD, SECOND, Call, call_through, count_outcomes
from tests.support.outside_stub import (
    Behaviour,
    OutsideStub,
    answer_after,
    answer_with,
    flood,
    hang_up,
    refuse_with,
)
from tests.support.patience import PATIENCE_S

HASTY = replace(FAST, attempt_limit=timedelta(seconds=2))
GARBLED = answer_with(b"<html>not the protocol</html>")


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
    assert count_outcomes(entrance) == {"answered": 1, outcome: 2}


async def test_an_attempt_that_takes_too_long_is_made_again(stub: OutsideStub, call: Call, entrance: Entrance) -> None:
    stub.script += [answer_after(PATIENCE_S, GOOD), answer_after(PATIENCE_S, GOOD)]
    assert (await call(provider=HASTY)).body == b"[1]"
    assert count_outcomes(entrance) == {"answered": 1, "attempt_timed_out": 2}


async def test_the_wait_between_attempts_grows(stub: OutsideStub, exchange: HttpExchange) -> None:
    stub.script += [refuse_with(503)] * 2
    await call_through(stub, exchange, Entrance(MemorySharedStore(), draw=lambda: 0.5))()
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
    while not count_outcomes(entrance):
        await asyncio.sleep(0.01)
    await asyncio.gather(first, call("two"), call("three"))
    refused, *later = (seen.at for seen in stub.seen)
    assert len(later) == 3
    assert all(at - refused > 0.95 for at in later)


async def test_the_servers_wish_to_wait_holds_for_a_call_that_has_its_slot_already(
    stub: OutsideStub, call: Call, entrance: Entrance
) -> None:
    stub.script.append(refuse_with(429, Retry_After="1"))
    spaced = replace(FAST, per_second=5.0, burst=1)
    first = asyncio.create_task(call("one", spaced))
    second = asyncio.create_task(call("two", spaced))
    await asyncio.gather(first, second)
    refused, *later = (seen.at for seen in stub.seen)
    assert len(later) == 2
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


async def test_an_attempt_gets_no_time_beyond_the_patience() -> None:
    now, made = [100.0], []

    async def attempt() -> FetchedAnswer:
        made.append(now[0])
        if len(made) == 1:
            now[0] += 1
            raise CallFailed(Failure.UNAVAILABLE, "down")
        await asyncio.sleep(0.01)
        return FetchedAnswer(b"too late")

    entrance = Entrance(MemorySharedStore(), clock=lambda: now[0], draw=lambda: 0.0)
    with pytest.raises(OutsideFailed, match="no answer within"):
        await entrance.call(replace(FAST, attempts=2), {}, attempt, SECOND)
    assert made == [100.0, 101.0]


async def test_calls_that_are_made_at_once_do_not_wait_for_one_connection(stub: OutsideStub, call: Call) -> None:
    all_there = asyncio.Barrier(3)

    async def answer_together(request: web.Request) -> web.StreamResponse:
        await all_there.wait()
        return await GOOD(request)

    stub.otherwise = answer_together
    answers = await asyncio.gather(*(call(what, replace(HASTY, attempts=1)) for what in "abc"))
    assert [answer.body for answer in answers] == [b"[1]"] * 3


async def test_calls_keep_to_the_limit(stub: OutsideStub, call: Call) -> None:
    slow = Provider("slow", per_second=20, burst=2)
    began = asyncio.get_running_loop().time()
    await asyncio.gather(*(call(str(number), slow) for number in range(12)))
    times = sorted(seen.at - began for seen in stub.seen)
    earliest = [0.0, *(number / 20 for number in range(11))]  # two at once, then twenty a second; a slow machine is later
    assert all(at > first - 0.01 for at, first in zip(times, earliest, strict=True)), times


async def test_a_provider_that_is_down_is_left_alone_and_comes_back(stub: OutsideStub, exchange: HttpExchange) -> None:
    now = [100.0]
    entrance = Entrance(MemorySharedStore(), clock=lambda: now[0], draw=lambda: 0.0)
    call = call_through(stub, exchange, entrance)
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


async def test_calls_that_are_made_when_a_provider_comes_back_wait_for_the_first_of_them(
    stub: OutsideStub, exchange: HttpExchange
) -> None:
    now = [100.0]
    call = call_through(stub, exchange, Entrance(MemorySharedStore(), clock=lambda: now[0], draw=lambda: 0.0))
    once = Provider("once", 1_000, 100, attempts=1)
    stub.otherwise = refuse_with(500)
    for number in range(FAILURES):
        with pytest.raises(OutsideFailed, match="status 500"):
            await call(str(number), once)
    now[0] += 6
    stub.otherwise = GOOD
    answers = await asyncio.gather(*(call(what, once, timedelta(seconds=12)) for what in "abc"))
    assert [answer.body for answer in answers] == [b"[1]"] * 3


async def test_a_refused_key_is_not_tried_again_with_the_next_call(stub: OutsideStub, call: Call) -> None:
    stub.otherwise = refuse_with(401, "no such key")
    with pytest.raises(OutsideFailed, match="check its key"):
        await call("one")
    with pytest.raises(OutsideFailed, match="left alone for now: status 401: no such key"):
        await call("two", patience=SECOND)
    assert len(stub.seen) == 1


async def test_a_key_in_an_answer_is_not_repeated(stub: OutsideStub, exchange: HttpExchange) -> None:
    stub.otherwise = refuse_with(400, "the key s3cret is bad")
    with pytest.raises(CallFailed) as refused:
        await exchange.send(HttpRequest(stub.url, headers={"X-Key": "s3cret"}, secret="s3cret"))
    assert "s3cret" not in str(refused.value)
    assert "s3cret" not in repr(HttpRequest(stub.url, headers={"X-Key": "s3cret"}, secret="s3cret"))
