from collections.abc import AsyncIterator, Callable

import asyncpg
import pytest
from temporalio.runtime import Runtime, TelemetryConfig

from app.database.engine import connect
from app.runs.service.temporal_gateway import connect as connect_temporal
from tests.workflows.durable.recorded_run import RecordedRun
from tests.workflows.durable.whole_product import WholeProduct
from workflows.durable.policies import WORKER_REPORTS_EVERY


@pytest.fixture
def own_postgres_url(new_postgres_url: Callable[[], str]) -> str:
    """A database of the test's own: a worker looks after every run it finds there."""
    return new_postgres_url()


@pytest.fixture
async def database(own_postgres_url: str) -> AsyncIterator[asyncpg.Pool]:
    pool = await connect(own_postgres_url)
    yield pool
    await pool.close()


@pytest.fixture
async def desk(database: asyncpg.Pool) -> RecordedRun:
    return await RecordedRun(database).begin()


@pytest.fixture(scope="session")
def runtime() -> Runtime:
    """The SDK's threads, reporting to the server as often as the product's workers do."""
    return Runtime(telemetry=TelemetryConfig(), worker_heartbeat_interval=WORKER_REPORTS_EVERY)


@pytest.fixture
async def house(database: asyncpg.Pool, temporal_address: str, runtime: Runtime) -> WholeProduct:
    return WholeProduct(database, await connect_temporal(temporal_address, runtime), temporal_address)
