"""New versions, lost workers and lost Temporal state: every run goes on, and what was stored is not asked again."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import orjson
import pytest
from temporalio.runtime import Runtime

from app.domain.run import RunStatus
from app.runs.service.temporal_gateway import connect
from infra.local.temporal import LocalTemporal
from tests.support.stack import running_temporal
from tests.workflows.durable.toys import Gate
from tests.workflows.durable.whole_product import WholeProduct
from workflows.durable import reconcile
from workflows.durable.deployment import compute_build_id, list_alive_builds

CALLS = 17


KEPT = """
    SELECT table_name, column_name, data_type
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type IN ('json', 'jsonb', 'bytea')"""


MAPS = ("arguments", "prompts")  # their keys are no fields


async def as_if_kept_by_a_newer_version(database: asyncpg.Pool) -> set[str]:
    """Give each noun in the database a field that nobody knows; the columns that hold any."""
    found = set()
    for table, column, kind in await database.fetch(KEPT):
        for place, kept in await database.fetch(f"SELECT ctid, {column} FROM {table} WHERE {column} IS NOT NULL"):
            if kept[:1] in ("{", b"{"):  # a hash is no noun
                newer = orjson.dumps(with_a_field_more(orjson.loads(kept)))
                value = newer if kind == "bytea" else newer.decode()
                await database.execute(f"UPDATE {table} SET {column} = $2 WHERE ctid = $1", place, value)
                found.add(f"{table}.{column}")
    return found


def with_a_field_more(kept: Any) -> Any:
    if isinstance(kept, list):
        return [with_a_field_more(each) for each in kept]
    if isinstance(kept, dict):
        return {name: each if name in MAPS else with_a_field_more(each) for name, each in kept.items()} | {"newer": [1]}
    return kept


async def test_a_paused_run_goes_on_with_another_version(house: WholeProduct) -> None:
    """A newer one, or an older one after a rollback: that leaves out the fields it does not know."""
    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker(build="old"):
        run_id = await house.ask()
        await gate.reached.wait()
        await house.steering.pause(run_id)
        gate.open()
        await house.wait_for(run_id, RunStatus.PAUSED)
    assert await as_if_kept_by_a_newer_version(house.database) >= {"runs.query", "runs.plan", "turns.body", "stages.result"}
    async with house.start_worker(build="new"):
        await house.steering.resume(run_id, finish=False)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert len(house.model.asked) == len(set(house.model.asked)) == CALLS


async def test_a_run_whose_version_is_gone_starts_anew_on_the_one_that_is_there(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker(build="gone"):
        run_id = await house.ask()
        await gate.reached.wait()
        asyncio.get_running_loop().call_later(0.2, gate.open)
    assert (await house.get_run(run_id)).status is RunStatus.RUNNING
    async with house.start_worker(build="here"):
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert len(house.model.asked) == len(set(house.model.asked)) == CALLS


async def test_a_run_on_a_version_that_is_alive_is_left_alone(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker(build="one"):
        run_id = await house.ask()
        await gate.reached.wait()
        async with house.start_worker(build="two"):
            while not await list_alive_builds(house.client) >= {"one", "two"}:
                await asyncio.sleep(0.1)
            assert await house.make_reconciler("two").reconcile_once() == []
            for jump in (timedelta(hours=-5), timedelta(hours=5)):
                set_wrong = datetime.now(UTC) + jump
                assert await list_alive_builds(house.client, lambda at=set_wrong: at) >= {"one", "two"}
        gate.open()
        await house.wait_for(run_id, RunStatus.COMPLETED)


async def test_an_old_version_that_restarts_beside_a_newer_one_does_not_take_over(house: WholeProduct) -> None:
    async with house.start_worker(build="v1"):
        pass
    async with house.start_worker(build="v2"):
        while "v2" not in await list_alive_builds(house.client):  # the server tells of a new worker a moment late
            await asyncio.sleep(0.1)
        async with house.start_worker(build="v1"):
            run_id = await house.ask()
            await house.wait_for(run_id, RunStatus.COMPLETED)
            handle = house.client.get_workflow_handle(f"run-{run_id}")
            versioning = (await handle.describe()).raw_description.workflow_execution_info.versioning_info
        assert versioning.deployment_version.build_id == "v2"


async def test_after_a_rollback_new_runs_go_to_the_version_that_is_left(house: WholeProduct) -> None:
    async with house.start_worker(build="before"):
        async with house.start_worker(build="after"):
            pass
        run_id = await house.ask()
        assert await house.make_reconciler("before").reconcile_once() == []
        await house.wait_for(run_id, RunStatus.COMPLETED)


@pytest.fixture
def two_servers(tmp_path: Path) -> Iterator[tuple[LocalTemporal, LocalTemporal]]:
    with running_temporal(tmp_path / "first") as first, running_temporal(tmp_path / "second") as second:
        yield first, second


async def test_runs_survive_the_loss_of_all_temporal_state(
    database: asyncpg.Pool, runtime: Runtime, two_servers: tuple[LocalTemporal, LocalTemporal]
) -> None:
    first, second = two_servers
    house = WholeProduct(database, await connect(first.address, runtime), first.address)
    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker(build="same"):
        running = await house.ask("first?")
        paused = await house.ask("second?")
        await gate.reached.wait()
        await house.steering.pause(paused)
        asyncio.get_running_loop().call_later(0.2, gate.open)
        await house.wait_for(paused, RunStatus.PAUSED)
    moved = WholeProduct(database, await connect(second.address, runtime), second.address, house.model, house.index)
    async with moved.start_worker(build="same"):
        await moved.wait_for(running, RunStatus.COMPLETED)
        assert (await moved.get_run(paused)).status is RunStatus.PAUSED
        await moved.steering.resume(paused, finish=False)
        await moved.wait_for(paused, RunStatus.COMPLETED)
    assert (await moved.get_run(running)).usage.model_calls == CALLS
    assert (await moved.get_run(paused)).usage.model_calls == CALLS
    assert len(house.model.asked) == 2 * CALLS


async def test_a_run_that_was_never_started_is_found(house: WholeProduct) -> None:
    run_id = await house.ask()
    await house.client.get_workflow_handle(f"run-{run_id}").terminate("lost")
    async with house.start_worker():
        await house.wait_for(run_id, RunStatus.COMPLETED)


async def test_a_lost_run_is_found_also_after_an_error_that_nobody_expects(
    house: WholeProduct, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The database is a newer version's for a while."""
    monkeypatch.setattr(reconcile, "RECONCILE_EVERY", timedelta(seconds=0.1))
    run_id = await house.ask()
    await house.client.get_workflow_handle(f"run-{run_id}").terminate("lost")
    await house.database.execute("ALTER TABLE fleets RENAME COLUMN wish TO of_tomorrow")
    async with house.start_worker():
        await house.wait_until(lambda: "wish does not exist" in caplog.text)
        await house.database.execute("ALTER TABLE fleets RENAME COLUMN of_tomorrow TO wish")
        await house.wait_for(run_id, RunStatus.COMPLETED)


def test_the_version_is_a_digest_of_the_code() -> None:
    assert compute_build_id() == compute_build_id()
    assert len(compute_build_id()) == 16


@pytest.mark.parametrize("times", [2])
async def test_reconciling_twice_starts_nothing_twice(house: WholeProduct, times: int) -> None:
    run_id = await house.ask()
    handle = house.client.get_workflow_handle(f"run-{run_id}")
    for _ in range(times):
        await house.make_reconciler().reconcile_once()
    first = (await handle.describe()).run_id
    await house.make_reconciler().reconcile_once()
    assert (await handle.describe()).run_id == first
    await house.steering.cancel(run_id)
    async with house.start_worker():
        await house.wait_for(run_id, RunStatus.CANCELLED)
