"""The real servers start, hold their state over an unclean end, and refuse nothing that a user's machine may bring."""

import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg
from temporalio.client import Client


async def test_postgres_takes_a_password_and_keeps_fsync_on(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        assert await connection.fetchval("SHOW fsync") == "on"
        assert await connection.fetchval("SHOW synchronous_commit") == "on"
    finally:
        await connection.close()


async def test_temporal_dev_server_answers_and_writes_ahead(temporal_address: str, servers_dir: Path) -> None:
    client = await Client.connect(temporal_address)
    assert (await client.count_workflows()).count >= 0
    with closing(sqlite3.connect(servers_dir / "temporal" / "temporal.sqlite")) as state:
        assert state.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_time_skipping_server_answers(time_skipping: str) -> None:
    client = await Client.connect(time_skipping)
    assert await client.service_client.check_health()
