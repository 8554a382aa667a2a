"""A pause, a cap on minutes and a cancel end also a model's call that would never end by itself."""

import asyncio
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from app.domain.budget import Budget
from app.domain.report import Report
from app.domain.run import EventType, RunStatus
from tests.workflows.durable.toys import Gate, make_quoting_toys
from tests.workflows.durable.whole_product import WholeProduct
from workflows.durable import policies
from workflows.durable.policies import HEARTBEAT_EVERY, HEARTBEAT_LIMIT

CALLS = 17


@pytest.mark.parametrize("command", ["pause", "cancel"])
async def test_a_reader_who_stops_the_run_does_not_wait_for_its_calls(house: WholeProduct, command: str) -> None:
    house.model.hook = gate = Gate("s2 turn 1", "s3 turn 1")
    async with house.start_worker():
        run_id = await house.ask()
        await house.wait_until(lambda: gate.stopped == 2)
        await getattr(house.steering, command)(run_id)
        await house.wait_for(run_id, RunStatus.PAUSED if command == "pause" else RunStatus.CANCELLED)
        await house.wait_until(lambda: gate.gave_up == 2)


async def test_a_cap_on_minutes_ends_a_call_and_more_minutes_ask_it_again(house: WholeProduct) -> None:
    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        await house.steering.set_budget(run_id, Budget(max_seconds=1))
        await house.wait_for(run_id, RunStatus.BUDGET_REACHED)
        assert gate.gave_up == 1
        gate.open()
        await house.steering.set_budget(run_id, Budget(max_seconds=3_600))
        await house.steering.resume(run_id, finish=False)
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert run.usage.model_calls == CALLS
    assert len(house.model.answered) == len(set(house.model.answered)) == CALLS


async def test_after_the_cap_on_minutes_the_report_from_what_there_is_takes_the_time_it_needs(
    house: WholeProduct, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies, "HALT_POLL", timedelta(milliseconds=5))
    monkeypatch.setattr(policies, "CALL_GRACE", timedelta(milliseconds=5))
    quoting, begun = make_quoting_toys(), list[int]()

    async def write_slowly(*request: Any) -> Report:
        begun.append(len(begun))
        for _ in range(100):  # each as long as a look for the cap, or longer
            await asyncio.sleep(0.005)
            await house.get_run(run_id)
        return await quoting.report(*request)

    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker(fallback=replace(quoting, report=write_slowly)):
        run_id = await house.ask()
        await gate.reached.wait()
        await house.steering.set_budget(run_id, Budget(max_seconds=1))
        await house.wait_for(run_id, RunStatus.BUDGET_REACHED)
        await house.steering.resume(run_id, finish=True)
        while not (run := await house.get_run(run_id)).status.finished:
            assert len(begun) < 2, "the whole report was thrown away"
            await asyncio.sleep(0.02)
    assert run.status is RunStatus.COMPLETED


async def test_the_call_of_a_replaced_attempt_answers_the_next_one(house: WholeProduct) -> None:
    """The worker hangs for so long that its stages are begun again, while the model works on a call that takes longer still."""
    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker():
        run_id = await house.ask()
        await gate.reached.wait()
        time.sleep((HEARTBEAT_LIMIT + HEARTBEAT_EVERY).total_seconds())  # noqa: ASYNC251  (the whole loop hangs)
        while not await list_second_attempts(house, run_id):
            await asyncio.sleep(0.05)
        gate.open()
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert gate.gave_up == 0
    assert len(house.model.asked) == run.usage.model_calls == CALLS


async def list_second_attempts(house: WholeProduct, run_id: UUID) -> list[dict[str, Any]]:
    started = await house.list_events(run_id, EventType.STAGE_STARTED)
    return [event for event in started if event["payload"]["attempt"] > 1]
