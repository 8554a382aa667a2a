"""Adapters that nobody needs any more leave their servers, and none that a run may still ask."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.database.engine import Executor, connect
from app.domain.model_versions import CanaryState, ModelVersion, VersionState
from app.domain.query import ResearchQuery
from app.domain.served_models import RoleModels, ServedModel
from app.models.service import promotion, registry, serving
from app.models.storage import served
from app.models.storage.unneeded import SETTLED, list_unloadable
from app.runs.storage import runs
from tests.app.models.trained_models import add_version
from tests.support.adapter_server import AdapterServer, serve_adapters
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.durable.retraining.unloading import Unloader

BY = ("ada@example.org", "why")
# As if so much time had passed.
AGE = """
    WITH moves AS (UPDATE alias_moves SET at = at - $1::interval),
         canary AS (UPDATE canaries SET ended_at = ended_at - $1::interval)
    UPDATE served_models SET gone_at = gone_at - $1::interval"""


@pytest.fixture
def own_url(new_postgres_url: Callable[[], str]) -> str:
    """A database of the test's own: aliases belong to the whole deployment."""
    return new_postgres_url()


@pytest.fixture
async def pool(own_url: str) -> AsyncIterator[asyncpg.Pool]:
    opened = await connect(own_url)
    yield opened
    await opened.close()


@pytest.fixture
async def server() -> AsyncIterator[AdapterServer]:
    async with serve_adapters() as opened:
        yield opened


@pytest.fixture
def unloader(pool: asyncpg.Pool) -> Unloader:
    return Unloader(pool, lambda model: ModelEndpoint(model.address, model.name))


async def promote_new(pool: asyncpg.Pool, server: AdapterServer) -> ModelVersion:
    """Load a new version of the writer, and give it the role."""
    version = await add_version(pool)
    server.loaded[version.name] = "adapter"
    model = ServedModel(name=version.name, address=server.url, adapter=version.artifact, version=version.id)
    async with pool.acquire() as connection, connection.transaction():
        await serving.add_model(connection, model)
        await promotion.promote(connection, version.id, version.name, *BY)
    return version


async def withdraw(pool: asyncpg.Pool, version: ModelVersion) -> None:
    async with pool.acquire() as connection, connection.transaction():
        await promotion.withdraw(connection, version.id, *BY)


async def create_run(database: Executor, writer: str = "") -> UUID:
    query = ResearchQuery(question="Which harbour?", models=RoleModels(writer=writer))
    await runs.create(database, run_id := uuid4(), query)
    return run_id


async def test_a_withdrawn_version_is_unloaded_when_the_last_run_that_has_it_is_over(
    pool: asyncpg.Pool, server: AdapterServer, unloader: Unloader
) -> None:
    one, two = await promote_new(pool, server), await promote_new(pool, server)
    run = await create_run(pool)
    await withdraw(pool, two)
    for _ in range(2):
        await pool.execute(AGE, 2 * SETTLED)
        await unloader.unload_once()
    assert set(server.loaded) == {one.name, two.name}
    await pool.execute("UPDATE runs SET status = 'cancelled', finished_at = now() WHERE id = $1", run)
    await unloader.unload_once()
    assert set(server.loaded) == {one.name}


async def test_a_run_that_is_not_committed_yet_keeps_what_its_role_had(
    pool: asyncpg.Pool, server: AdapterServer, unloader: Unloader
) -> None:
    one, two = await promote_new(pool, server), await promote_new(pool, server)
    async with pool.acquire() as creating:
        transaction = creating.transaction()
        await transaction.start()
        await create_run(creating)
        await withdraw(pool, two)
        assert [model.name for model in await list_unloadable(pool, timedelta(0))] == [two.name], "nobody else sees the run yet"
        await unloader.unload_once()
        await transaction.commit()
    await pool.execute(AGE, 2 * SETTLED)
    await unloader.unload_once()
    assert set(server.loaded) == {one.name, two.name}


async def test_a_refused_candidate_serves_its_runs_to_their_end(
    pool: asyncpg.Pool, server: AdapterServer, unloader: Unloader
) -> None:
    held, tried = await promote_new(pool, server), await add_version(pool)
    server.loaded[tried.name] = "adapter"
    model = ServedModel(name=tried.name, address=server.url, adapter=tried.artifact, version=tried.id)
    async with pool.acquire() as connection, connection.transaction():
        await serving.add_model(connection, model)
        await registry.change_state(connection, tried.id, VersionState.CANARY, *BY)
        canary = await serving.start_canary(connection, uuid4(), tried.id, tried.name, 1.0)
    run = await create_run(pool, tried.name)
    async with pool.acquire() as connection, connection.transaction():
        await serving.end_canary(connection, canary.id, CanaryState.ROLLED_BACK, "worse")
        await registry.change_state(connection, tried.id, VersionState.REFUSED, *BY)
    await pool.execute(AGE, 2 * SETTLED)
    await unloader.unload_once()
    assert await is_gone(pool, tried) is False
    await pool.execute("UPDATE runs SET status = 'cancelled', finished_at = now() WHERE id = $1", run)
    await unloader.unload_once()
    assert (await is_gone(pool, tried), set(server.loaded)) == (True, {held.name, tried.name}), "a task may be under way"
    await pool.execute(AGE, 2 * SETTLED)
    await unloader.unload_once()
    assert (await is_gone(pool, held), set(server.loaded)) == (False, {held.name})


async def is_gone(pool: asyncpg.Pool, version: ModelVersion) -> bool:
    known = await served.get(pool, version.name)
    assert known is not None
    return known.gone_at is not None


async def test_a_server_that_is_away_is_asked_again(pool: asyncpg.Pool, server: AdapterServer) -> None:
    one, two = await promote_new(pool, server), await promote_new(pool, server)
    await withdraw(pool, two)
    await pool.execute(AGE, 2 * SETTLED)
    addresses = iter(["http://127.0.0.1:9/v1", server.url])
    unloader = Unloader(pool, lambda model: ModelEndpoint(next(addresses), model.name))
    await unloader.unload_once()
    assert set(server.loaded) == {one.name, two.name}
    for _ in range(2):
        await unloader.unload_once()
    assert set(server.loaded) == {one.name}
