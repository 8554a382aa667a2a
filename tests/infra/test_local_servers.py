"""The real servers start, hold their state over an unclean end, and refuse nothing that a user's machine may bring."""

import asyncpg
from temporalio.client import Client


async def test_postgres_takes_a_password_and_keeps_fsync_on(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        assert await connection.fetchval("SHOW fsync") == "on"
        assert await connection.fetchval("SHOW synchronous_commit") == "on"
    finally:
        await connection.close()


async def test_temporal_dev_server_answers(temporal_address: str) -> None:
    client = await Client.connect(temporal_address)
    assert (await client.count_workflows()).count >= 0


async def test_time_skipping_server_answers(time_skipping: str) -> None:
    client = await Client.connect(time_skipping)
    assert await client.service_client.check_health()
