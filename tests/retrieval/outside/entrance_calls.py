"""Calls through the entrance to a server that a test scripts."""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta

import orjson

from retrieval.outside.entrance import Entrance, OutsideAnswer
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.http import HttpExchange, HttpRequest
from retrieval.outside.provider import Provider
from retrieval.outside.trial import FetchedAnswer
from tests.support.outside_stub import OutsideStub, answer_with
from tests.support.patience import PATIENCE_S

LONG = timedelta(seconds=PATIENCE_S)
FAST = Provider("fast", per_second=1_000, burst=100, attempt_limit=LONG)
GOOD = answer_with({"results": [1]})
SECOND = timedelta(seconds=1)
Call = Callable[..., Awaitable[OutsideAnswer]]


def call_through(stub: OutsideStub, exchange: HttpExchange, entrance: Entrance) -> Call:
    async def ask(what: str = "x", provider: Provider = FAST, patience: timedelta = LONG) -> OutsideAnswer:
        async def attempt() -> FetchedAnswer:
            body = await exchange.send(HttpRequest(stub.url, {"q": what}))
            try:
                return FetchedAnswer(orjson.dumps(orjson.loads(body)["results"]))
            except ValueError as error:
                raise CallFailed(Failure.GARBLED, "no JSON") from error

        return await entrance.call(provider, {"q": what}, attempt, patience)

    return ask


def count_outcomes(entrance: Entrance) -> Counter[str]:
    found: Counter[str] = Counter()
    for ending, n in entrance.meter.counts.items():
        found[ending.outcome] += n
    return found
