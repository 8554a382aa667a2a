"""The real servers start, hold their state over an unclean end, and refuse nothing that a user's machine may bring."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from temporalio.client import Client

from app.runs.service.temporal_gateway import connect


async def test_postgres_takes_a_password_and_keeps_fsync_on(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        assert await connection.fetchval("SHOW fsync") == "on"
        assert await connection.fetchval("SHOW synchronous_commit") == "on"
    finally:
        await connection.close()


async def test_temporal_dev_server_answers_and_writes_ahead(temporal_address: str, servers_dir: Path) -> None:
    client = await connect(temporal_address)
    assert (await client.count_workflows()).count >= 0
    with closing(sqlite3.connect(servers_dir / "temporal" / "temporal.sqlite")) as state:
        assert state.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_a_server_that_still_starts_is_waited_for(temporal_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, early = Client.connect, ["Unavailable: Frontend is not healthy yet"] * 2

    async def starting(*args: Any, **named: Any) -> Client:
        if early:
            raise RuntimeError(early.pop())
        return await real(*args, **named)

    monkeypatch.setattr(Client, "connect", starting)
    assert (await (await connect(temporal_address)).count_workflows()).count >= 0
    assert early == []


async def test_time_skipping_server_answers(time_skipping: str) -> None:
    client = await Client.connect(time_skipping)
    assert await client.service_client.check_health()
