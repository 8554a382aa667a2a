"""A pause, a cap on minutes and a cancel end also a model's call that would never end by itself."""

import pytest

from app.domain.budget import Budget
from app.domain.run import RunStatus
from tests.workflows.durable.toys import Gate
from tests.workflows.durable.whole_product import WholeProduct

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
        run_id = await house.ask(budget=Budget(max_seconds=2))
        await house.wait_for(run_id, RunStatus.BUDGET_REACHED)
        assert gate.gave_up == 1
        gate.open()
        await house.steering.set_budget(run_id, Budget(max_seconds=3_600))
        await house.steering.resume(run_id, finish=False)
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert run.usage.model_calls == CALLS
    assert len(house.model.answered) == len(set(house.model.answered)) == CALLS
