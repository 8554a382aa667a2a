"""The servers that a run stands on go away while its report is written, and come back: as they were, or with nothing."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from temporalio.runtime import Runtime

from app.domain.run import RunStatus
from app.runs.service.temporal_gateway import connect
from infra.local.temporal import LocalTemporal
from tests.support.stack import running_temporal
from tests.workflows.durable.toys import Gate
from tests.workflows.durable.whole_product import WholeProduct

CALLS = 17


@pytest.fixture
def temporal(tmp_path: Path) -> Iterator[LocalTemporal]:
    with running_temporal(tmp_path) as server:
        yield server


async def kill(server: LocalTemporal) -> None:
    assert server.process is not None
    await asyncio.to_thread(server.process.kill)


async def test_temporal_comes_back_with_nothing_while_the_worker_lives(
    database: asyncpg.Pool, runtime: Runtime, temporal: LocalTemporal
) -> None:
    house = WholeProduct(database, await connect(temporal.address, runtime), temporal.address)
    house.model.hook = gate = Gate("section 2 draft")
    async with house.start_worker(build="same"):
        run_id = await house.ask()
        await gate.reached.wait()
        await kill(temporal)
        for file in temporal.directory.glob("temporal.sqlite*"):
            file.unlink()
        gate.open()
        await temporal.start()
        await house.wait_for(run_id, RunStatus.COMPLETED)
        later = await house.ask("and later?")
        while (await house.get_run(later)).status is RunStatus.QUEUED:  # it has a workflow, which the server sends to nobody
            assert await house.make_reconciler("same").reconcile_once() == []
            await asyncio.sleep(0.2)
        await house.wait_for(later, RunStatus.COMPLETED)
    assert len(house.model.asked) == 2 * CALLS
