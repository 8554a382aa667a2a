"""What a database that was in use before revision 0002 says afterwards of its runs' sources and collections."""

from uuid import UUID, uuid4

import asyncpg

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.database.migrate import config, downgrade, upgrade, with_connection

COLLECTION = "INSERT INTO collections (id, organisation_id, name, everyone) VALUES ($1, $2, 'Drawer', false)"
DOCUMENT = """
    INSERT INTO collection_documents (id, organisation_id, collection_id, name, bytes, snapshot)
    VALUES (gen_random_uuid(), $2, $1, 'a.txt', 9, 'own text')"""
RUN = "INSERT INTO runs (id, organisation_id, query, made_for) VALUES ($1, $2, $3, $4)"
SEARCHED = "INSERT INTO collection_runs (collection_id, run_id, organisation_id) VALUES ($1, $2, $3)"
CITED = "INSERT INTO run_sources (hash, organisation_id, run_id) VALUES ($1, $2, $3)"


async def test_sources_that_no_collection_has_become_open_and_taken_over_evidence_is_noted(empty_postgres_url: str) -> None:
    await _upgrade_to(empty_postgres_url, "0001")
    connection = await asyncpg.connect(empty_postgres_url)
    first, second, third, beside = await _fill(connection)
    await connection.close()
    await upgrade(empty_postgres_url)
    connection = await asyncpg.connect(empty_postgres_url)
    assert dict(await connection.fetch("SELECT hash, own FROM run_sources")) == {"own text": True, "a page": False}
    noted = {row["run_id"] for row in await connection.fetch("SELECT run_id FROM collection_runs")}
    assert noted == {first, second, third}
    assert beside not in noted
    await connection.close()
    await downgrade(empty_postgres_url, "0001")
    connection = await asyncpg.connect(empty_postgres_url)
    assert len(await connection.fetch("SELECT * FROM run_sources")) == 2
    assert await connection.fetchval("SELECT count(*) FROM pg_proc WHERE proname = 'close_stage'") == 1
    await connection.close()


async def _fill(connection: asyncpg.Connection) -> tuple[UUID, UUID, UUID, UUID]:
    """Add a run on a collection, its second report, the schedule's run after that, and a run of nobody's evidence."""
    collection, runs = uuid4(), (uuid4(), uuid4(), uuid4(), uuid4())
    first, second, third, beside = runs
    await connection.execute("SET rubrica.\"user\" = ''")  # nobody has an account here
    await connection.execute(
        "INSERT INTO organisations (id, name) VALUES ($1, 'Home') ON CONFLICT DO NOTHING", LOCAL_ORGANISATION
    )
    for statement in (COLLECTION, DOCUMENT):
        await connection.execute(statement, collection, LOCAL_ORGANISATION)
    for run, query, made_for in ((first, "{}", None), (second, "{}", first), (third, f'{{"refreshes": "{second}"}}', None)):
        await connection.execute(RUN, run, LOCAL_ORGANISATION, query, made_for)
    await connection.execute(RUN, beside, LOCAL_ORGANISATION, "{}", None)
    await connection.execute(SEARCHED, collection, first, LOCAL_ORGANISATION)
    for name in ("own text", "a page"):
        await connection.execute(CITED, name, LOCAL_ORGANISATION, first)
    return runs


async def _upgrade_to(url: str, revision: str) -> None:
    from alembic import command

    await with_connection(url, lambda connection: command.upgrade(config(connection), revision))
