"""What a database says after revision 0006 in which two starts at once had begun two cycles of a plan."""

from uuid import UUID, uuid4

import asyncpg
import pytest

from app.database.migrate import config, downgrade, upgrade, with_connection

CYCLE = """
    INSERT INTO retraining_cycles (id, plan, folder, state, asked_by, created_at, ended_at)
    VALUES ($1, $2, '/', $3, 'ann@example.org', timestamptz '2026-11-01' + $4 * interval '1 s', $5::timestamptz)"""
ENDED = "2026-11-02T00:00:00+00:00"


async def add(connection: asyncpg.Connection, plan: str, second: int, state: str = "running") -> UUID:
    cycle = uuid4()
    ended = await connection.fetchval("SELECT $1::text::timestamptz", ENDED if state == "promoted" else None)
    await connection.execute(CYCLE, cycle, f'{{"name": "{plan}"}}', state, second, ended)
    return cycle


async def test_the_older_of_two_cycles_of_a_plan_goes_on(empty_postgres_url: str) -> None:
    from alembic import command

    await with_connection(empty_postgres_url, lambda connection: command.upgrade(config(connection), "0005"))
    connection = await asyncpg.connect(empty_postgres_url)
    over, older, newer = [await add(connection, "weekly", n, "running" if n else "promoted") for n in range(3)]
    other = await add(connection, "daily", 1, "paused")
    await connection.close()
    await upgrade(empty_postgres_url)
    connection = await asyncpg.connect(empty_postgres_url)
    states = dict(await connection.fetch("SELECT id, state FROM retraining_cycles"))
    assert states == {over: "promoted", older: "running", newer: "stopped", other: "paused"}
    with pytest.raises(asyncpg.UniqueViolationError, match="retraining_cycles_under_way"):
        await add(connection, "weekly", 3)
    await connection.close()
    await downgrade(empty_postgres_url, "0005")
    connection = await asyncpg.connect(empty_postgres_url)
    await add(connection, "weekly", 4)
    await connection.close()
