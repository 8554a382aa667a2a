"""What a use of the tenants' database leaves behind: no open transaction, however it ended."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import anyio
import asyncpg
import pytest

from app.database.engine import connect
from app.database.tenancy import Tenant, TenantDatabase, act_for


@pytest.fixture
async def one(api_urls: tuple[str, str]) -> AsyncIterator[TenantDatabase]:
    """Over a single connection, which all uses share."""
    pool = await connect(api_urls[0], largest=1)
    yield TenantDatabase(pool)
    await pool.close()


async def sleeping(pool: asyncpg.Pool) -> None:
    """Wait until the statement is at work."""
    while not await pool.fetchval("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"):
        await asyncio.sleep(0.01)


async def test_a_use_that_fails_or_is_cancelled_leaves_no_transaction_open(one: TenantDatabase, pool: asyncpg.Pool) -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    first, second = Tenant(uuid4()), Tenant(uuid4())
    with act_for(first):
        for use in (one.fetch, one.fetchrow, one.fetchval, one.execute):
            with pytest.raises(asyncpg.DivisionByZeroError):
                await use("SELECT 1 / 0")
        for until in (asyncio.sleep(0), sleeping(pool)):  # while its transaction is opened, and while its statement is at work
            slow = asyncio.create_task(one.fetchval("SELECT pg_sleep(3600)"))
            await until
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
        async with anyio.create_task_group() as group:  # as a stream ends whose reader went away: cancelled at each wait
            group.start_soon(one.fetchval, "SELECT pg_sleep(3600)")
            await sleeping(pool)
            group.cancel_scope.cancel()
        assert await one.fetchval("SELECT 1") == 1
        with pytest.raises(asyncpg.PostgresError):
            await one.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    with act_for(second):
        assert await one.fetchval("SELECT current_organisation()") == second.organisation
    assert complaints == []
