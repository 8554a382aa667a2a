"""Fixtures: a pool on a migrated database, runs in it, and the API served over a real socket."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.database.engine import connect
from app.domain.budget import Budget
from app.domain.query import ResearchQuery
from app.http.services import Services, open_services
from app.runs.storage import runs
from app.runs.storage.run_log import RunLog
from tests.app.browser import Browser, open_browser
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api

NewRun = Callable[..., Awaitable[UUID]]
NewBrowser = Callable[[], Awaitable[Browser]]
_numbers = count(1)


@pytest.fixture
async def pool(postgres_url: str) -> AsyncIterator[asyncpg.Pool]:
    opened = await connect(postgres_url, largest=12)
    yield opened
    await opened.close()


@pytest.fixture
def run_log(pool: asyncpg.Pool) -> RunLog:
    return RunLog(pool)


@pytest.fixture
def new_run(pool: asyncpg.Pool) -> NewRun:
    async def make(budget: Budget | None = None, question: str = "Who wrote it?") -> UUID:
        run_id = uuid4()
        await runs.create(pool, run_id, ResearchQuery(question=question, budget=budget or Budget()))
        return run_id

    return make


@pytest.fixture
def workflows(run_log: RunLog) -> InMemoryRuns:
    return InMemoryRuns(run_log)


@pytest.fixture
async def services(api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[Services]:
    async with open_services(*api_urls, workflows) as opened:
        yield opened


@pytest.fixture
async def api(services: Services) -> AsyncIterator[ApiClient]:
    async with serve_api(services) as client:
        yield client


@pytest.fixture
async def new_browser(api: ApiClient, fresh_buckets: None) -> AsyncIterator[NewBrowser]:
    async with contextlib.AsyncExitStack() as stack:

        async def make() -> Browser:
            return await stack.enter_async_context(open_browser(api.address))

        yield make


@pytest.fixture
def addresses() -> Iterator[str]:
    """E-mail addresses that nobody has used."""
    return (f"person{number}@example.org" for number in _numbers)


@pytest.fixture
async def fresh_buckets(pool: asyncpg.Pool) -> None:
    """Empty the rate limits, so that attempts of one test do not count in the next."""
    await pool.execute("TRUNCATE rate_buckets")
