"""Browsers of several people, each new to the API."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count

import pytest

from tests.app.accounts.browser import Browser, browsing
from tests.app.support import ApiClient

NewBrowser = Callable[[], Awaitable[Browser]]
_numbers = count(1)


@pytest.fixture
async def new_browser(api: ApiClient) -> AsyncIterator[NewBrowser]:
    async with contextlib.AsyncExitStack() as stack:

        async def make() -> Browser:
            return await stack.enter_async_context(browsing(api.address))

        yield make


@pytest.fixture
def addresses() -> Iterator[str]:
    """E-mail addresses that nobody has used."""
    return (f"person{number}@example.org" for number in _numbers)


@pytest.fixture(autouse=True)
async def fresh_buckets(pool: object) -> None:
    """Attempts of one test do not count in the next."""
    await pool.execute("TRUNCATE rate_buckets")  # type: ignore[attr-defined]
