"""`kill -9` of the worker in the middle of planning, searching and section writing, against a model server that keeps a bill."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.database.tenancy import Tenant, act_for
from app.domain.fleets import FleetQuestion
from app.domain.query import ResearchQuery
from app.domain.run import RunStatus
from app.fleets.service import Fleets
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_bill import Bill, read_bill
from tests.support.model_stub_faults import Fault
from tests.workflows.durable.whole_product import WholeProduct

ROOT = Path(__file__).resolve().parents[3]


@asynccontextmanager
async def worker_process(house: WholeProduct, url: str, stub: ModelStub) -> AsyncIterator[asyncio.subprocess.Process]:
    command = ["-m", "tests.workflows.durable.toy_worker", url, house.address, stub.base_url, "killed"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def stored(house: WholeProduct, run_id: UUID | None = None) -> set[str]:
    """Digests of the model turns that are stored."""
    rows = await house.database.fetch("SELECT run_id, digest FROM turns WHERE kind = 'model'")
    return {row["digest"] for row in rows if run_id in (None, row["run_id"])}


async def until(house: WholeProduct, run_id: UUID, turns: int) -> None:
    """Wait until this many turns of a run are stored."""
    while len(await stored(house, run_id)) < turns:
        await asyncio.sleep(0.05)


async def hang_one(house: WholeProduct, stub: ModelStub, step: str, question: str, others: int) -> UUID:
    """A run one of whose calls of this step hangs; returns when all others that do not need its answer are stored."""
    stub.faults.order(Fault.HANG, step)
    run_id = await house.ask(question)
    await until(house, run_id, others)
    return run_id


async def hang_one_of_a_fleet(house: WholeProduct, stub: ModelStub) -> tuple[UUID, int]:
    """A fleet of three in a window of two, one of which hangs when its searches are done and the other two have ended."""
    fleet, fleets = uuid4(), Fleets(house.database, house.gateway)
    stub.faults.order(Fault.HANG, "outline")
    questions = [FleetQuestion(name=str(n), query=ResearchQuery(question=f"number {n} of a fleet?")) for n in range(3)]
    with act_for(Tenant(LOCAL_ORGANISATION)):
        await fleets.make(fleet, 2)
        await fleets.add(fleet, questions)
        await fleets.complete(fleet)
        while (await fleets.get(fleet)).ended < 2 or await calls_of(house, fleet) < 2 * 17 + 10:
            await asyncio.sleep(0.05)
    return fleet, await calls_of(house, fleet)


async def calls_of(house: WholeProduct, fleet: UUID) -> int:
    counted = "SELECT count(*) FROM turns t JOIN runs r ON r.id = t.run_id WHERE r.fleet_id = $1 AND t.kind = 'model'"
    return int(await house.database.fetchval(counted, fleet))


async def until_ended(house: WholeProduct, fleet: UUID) -> list[RunStatus]:
    fleets = Fleets(house.database, house.gateway)
    while (await fleets.get(fleet)).ended_at is None:
        await asyncio.sleep(0.05)
    return [end.status for end in await fleets.list_ends(fleet)]


@pytest.mark.slow
async def test_a_killed_worker_costs_only_the_calls_in_flight(house: WholeProduct, own_postgres_url: str, tmp_path: Path) -> None:
    bill = tmp_path / "bill"
    async with serve_model_stub(ModelStub(bill=Bill(bill))) as stub:
        async with worker_process(house, own_postgres_url, stub) as worker:
            # Of 17 calls: plan, 9 of the searches, outline, and the two sections whose calls do not hang, twice each.
            writing = await hang_one(house, stub, "section", "a report being written?", 1 + 9 + 1 + 4)
            searching = await hang_one(house, stub, "act", "searches under way?", 1 + 6)
            planning = await hang_one(house, stub, "plan", "a plan being made?", 0)
            fleet, searched = await hang_one_of_a_fleet(house, stub)
            while stub.in_flight < 4:
                await asyncio.sleep(0.05)
            paid, killed_at = await stored(house), time.time()
            worker.kill()
            await worker.wait()
        async with worker_process(house, own_postgres_url, stub):
            for run_id in (writing, searching, planning):
                run = await house.wait_for(run_id, RunStatus.COMPLETED)
                assert run.usage.model_calls == 17
            assert await until_ended(house, fleet) == [RunStatus.COMPLETED] * 3
            undisturbed = await house.ask("a report being written by others?")
            await house.wait_for(undisturbed, RunStatus.COMPLETED)
    assert (await house.read_report_markdown(undisturbed)).replace(" by others?", "?") == await house.read_report_markdown(
        writing
    )
    later = [line.key for line in read_bill(bill) if line.start > killed_at]
    assert paid.isdisjoint(later)
    # Four calls in flight, what was still to do of three runs and of one of the fleet's three, and the undisturbed run.
    assert searched == 2 * 17 + 10
    assert len(later) == 6 * 17 - len(paid) + 17
