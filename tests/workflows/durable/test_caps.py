"""The caps of a run hold across its agents, before money is spent, and while a model is away."""

import asyncio
from decimal import Decimal
from uuid import UUID

import asyncpg
import pytest

from app.domain.budget import Budget
from app.domain.chat import ChatRequest, ChatRole, Completion, Message
from app.domain.contract import Halt
from app.domain.errors import ModelUnavailable
from app.domain.run import RunStatus
from app.runs.storage.run_log import RunLog
from tests.workflows.durable.recorded_run import RecordedRun, answer_slowly
from tests.workflows.durable.toys import Gate, ToyModel, make_chat_request
from tests.workflows.durable.whole_product import WholeProduct
from workflows.chat_models.endpoint import ModelPrices
from workflows.durable.failures import RunHalted
from workflows.durable.run_rooms import RunRooms


def asks_for_most(text: str) -> ChatRequest:
    """A call that may take three quarters of 400 tokens."""
    return make_chat_request(text).model_copy(update={"max_tokens": 280})


class Waiting(RunLog):
    """A record that tells when an agent looks for what others hold."""

    def __init__(self, database: asyncpg.Pool) -> None:
        super().__init__(database)
        self.looked = asyncio.Event()

    async def others_hold(self, run_id: UUID, stage: str) -> int | None:
        self.looked.set()
        return await super().others_hold(run_id, stage)


async def refused_at_first(desk: RecordedRun) -> asyncio.Task[Completion]:
    """A call of another worker's agent, which by now was refused and waits."""
    log = Waiting(desk.database)
    record = await desk.open_record("search/s2", log=log)
    asking = asyncio.create_task(record.ask("search/s2", "act", ToyModel(), asks_for_most("next")))
    looked = asyncio.create_task(log.looked.wait())
    await asyncio.wait((asking, looked), return_when=asyncio.FIRST_COMPLETED)
    assert not asking.done()
    return asking


async def test_the_cap_on_tokens_holds_across_parallel_agents(database: asyncpg.Pool) -> None:
    desk = await RecordedRun(database).begin(Budget(max_tokens=1_500))
    room, model = RunRooms(desk.log).room_of(desk.run_id), ToyModel(hook=answer_slowly)

    async def agent(number: int) -> None:
        record = await desk.open_record(f"search/s{number}", room)
        for turn in range(10):
            await record.ask(f"search/s{number}", "act", model, make_chat_request(f"{number} {turn}"))

    ended = await asyncio.gather(*(agent(n) for n in range(4)), return_exceptions=True)
    assert all(isinstance(e, RunHalted) and e.halt is Halt.BUDGET for e in ended)
    spent = (await desk.read_usage()).tokens
    # A call takes 110 tokens. Agents waited for each other's reservations instead of giving up early.
    assert 1_200 <= spent <= 1_500


async def test_room_that_another_worker_has_reserved_is_waited_for(database: asyncpg.Pool) -> None:
    """What a call may take at most is far more than it takes: the rest of it comes back when it ends."""
    desk, gate = await RecordedRun(database).begin(Budget(max_tokens=400)), Gate("slow")
    there = await desk.open_record("search/s1")
    slow = asyncio.create_task(there.ask("search/s1", "act", ToyModel(hook=gate), asks_for_most("slow")))
    await gate.reached.wait()
    next_one = await refused_at_first(desk)
    gate.open()
    assert (await slow).text == "re: slow"
    await desk.log.close_stage(desk.run_id, "search/s1", 1, b"found", [], {})
    assert (await next_one).text == "re: next"


async def test_room_that_a_dead_worker_held_is_waited_for(database: asyncpg.Pool) -> None:
    desk, gate = await RecordedRun(database).begin(Budget(max_tokens=400)), Gate("slow")
    dead = await desk.open_record("search/s1")
    lost = asyncio.create_task(dead.ask("search/s1", "act", ToyModel(hook=gate), asks_for_most("slow")))
    await gate.reached.wait()
    lost.cancel()
    dead.abort()
    next_one = await refused_at_first(desk)
    await desk.open_record("search/s1")
    assert (await next_one).text == "re: next"


async def test_agents_of_a_stage_that_make_no_call_leave_their_room_to_one_that_does(database: asyncpg.Pool) -> None:
    desk = await RecordedRun(database).begin(Budget(max_tokens=4_400))
    record, model = await desk.open_record("report"), ToyModel()
    for agent in ("report/section/1", "report/section/2", "report/section/3"):
        assert (await record.ask(agent, "section", model, make_chat_request(agent))).text == f"re: {agent}"
    assert len(model.asked) == 3


async def test_a_paused_run_reserves_nothing(house: WholeProduct) -> None:
    """What its stages held would be missing for whichever is opened first when it goes on."""
    house.model.hook = gate = Gate("s2 turn 1")
    async with house.start_worker():
        run_id = await house.ask(budget=Budget(max_tokens=100_000))
        await gate.reached.wait()
        await house.steering.pause(run_id)
        gate.open()
        await house.wait_for(run_id, RunStatus.PAUSED)
    assert await house.database.fetchval("SELECT reserved_tokens FROM ledgers WHERE run_id = $1", run_id) == 0


async def test_what_the_next_call_may_take_is_reserved_with_each_turn_and_also_after_a_restart(database: asyncpg.Pool) -> None:
    """A prompt's real size is known once the model has told it: 100 tokens, far less than these words may have."""
    held: list[int] = []

    async def look(_: str = "") -> None:
        held.append(await database.fetchval("SELECT reserved_tokens FROM ledgers WHERE run_id = $1", desk.run_id))

    async def converse(turns: int) -> None:
        record, request = await desk.open_record(), make_chat_request("word " * 3_000)
        for turn in range(turns):
            answer = await record.ask("search/s1", "act", model, request)
            await look()
            seen = (
                Message(role=ChatRole.ASSISTANT, content=answer.text[:9]),
                Message(role=ChatRole.USER, content=f"more {turn}"),
            )
            request = request.model_copy(update={"messages": request.messages + seen})

    desk, model = await RecordedRun(database).begin(Budget(max_tokens=100_000)), ToyModel(hook=look)
    await converse(2)
    first, after, second, _ = held
    assert first >= 5_000 > after == second > 100, "what is reserved with a turn is enough for the next call"
    held.clear()
    await converse(3)
    assert held[2] >= 5_000, "this attempt was not told the prompt's size"


async def test_the_cap_on_money_counts_the_price_of_a_call_before_it_is_made(database: asyncpg.Pool) -> None:
    desk = await RecordedRun(database, prices=ModelPrices(Decimal(1), Decimal(10))).begin(Budget(max_cost_microusd=900))
    with pytest.raises(RunHalted):
        await (await desk.open_record()).ask("search/s1", "act", ToyModel(), make_chat_request("100 output tokens may cost 1000"))


async def test_the_cap_on_time_ends_a_wait_for_a_model_that_is_away(database: asyncpg.Pool) -> None:
    desk = await RecordedRun(database).begin(Budget(max_seconds=1))
    await desk.log.set_status(desk.run_id, RunStatus.RUNNING)

    async def down(_: str) -> None:
        raise ModelUnavailable("connection refused")

    record = await desk.open_record()
    with pytest.raises(RunHalted) as stopped:
        await record.ask("search/s1", "act", ToyModel(hook=down), make_chat_request("one"))
    assert stopped.value.halt is Halt.BUDGET
