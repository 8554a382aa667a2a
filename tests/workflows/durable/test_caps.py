"""The caps of a run hold across its agents, before money is spent, and while a model is away."""

import asyncio
from decimal import Decimal

import asyncpg
import pytest

from app.domain.budget import Budget
from app.domain.contract import Halt
from app.domain.errors import ModelUnavailable
from app.domain.run import RunStatus
from tests.support.patience import PATIENCE_S
from tests.workflows.durable.desk import Desk, slowly
from tests.workflows.durable.toys import ToyModel, ask_for
from workflows.chat_models.endpoint import Prices
from workflows.durable.failures import RunHalted
from workflows.durable.room import Rooms


async def test_the_cap_on_tokens_holds_across_parallel_agents(database: asyncpg.Pool) -> None:
    desk = await Desk(database).begin(Budget(max_tokens=1_500))
    room, model = Rooms(desk.log).of(desk.run_id), ToyModel(hook=slowly)

    async def agent(number: int) -> None:
        record = await desk.open(f"search/s{number}", room)
        for turn in range(10):
            await record.ask(f"search/s{number}", "act", model, ask_for(f"{number} {turn}"))

    ended = await asyncio.gather(*(agent(n) for n in range(4)), return_exceptions=True)
    assert all(isinstance(e, RunHalted) and e.halt is Halt.BUDGET for e in ended)
    spent = (await desk.usage()).tokens
    # A call takes 110 tokens. Agents waited for each other's reservations instead of giving up early.
    assert 1_200 <= spent <= 1_500


async def test_the_cap_on_money_counts_the_price_of_a_call_before_it_is_made(database: asyncpg.Pool) -> None:
    desk = await Desk(database, prices=Prices(Decimal(1), Decimal(10))).begin(Budget(max_cost_microusd=900))
    with pytest.raises(RunHalted):
        await (await desk.open()).ask("search/s1", "act", ToyModel(), ask_for("100 output tokens may cost 1000"))


async def test_the_cap_on_time_ends_a_wait_for_a_model_that_is_away(database: asyncpg.Pool) -> None:
    desk = await Desk(database).begin(Budget(max_seconds=1))
    await desk.log.set_status(desk.run_id, RunStatus.RUNNING)

    async def down(_: str) -> None:
        raise ModelUnavailable("connection refused")

    record = await desk.open()
    with pytest.raises(RunHalted) as stopped:
        async with asyncio.timeout(PATIENCE_S):
            await record.ask("search/s1", "act", ToyModel(hook=down), ask_for("one"))
    assert stopped.value.halt is Halt.BUDGET
