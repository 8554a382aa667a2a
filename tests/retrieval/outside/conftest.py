"""A server outside, and calls to it through an entrance that waits hardly at all between attempts."""

from collections.abc import AsyncIterator

import pytest

from retrieval.outside import http
from retrieval.outside.entrance import Entrance
from retrieval.outside.http import HttpExchange
from retrieval.outside.memory import MemorySharedStore
from tests.retrieval.outside.entrance_calls import GOOD, Call, call_through
from tests.support.outside_stub import (
    OutsideStub,
    serve_outside,
)


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
    return call_through(stub, exchange, entrance)
