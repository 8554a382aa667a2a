"""A model that falls silent: it is told, and the call is given up, booked and made once more, never beside the first."""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.domain.budget import Budget
from app.domain.chat import ChatRequest
from app.domain.contract import Halt
from app.domain.run import EventType, RunStatus
from app.runs.storage import stored_turns
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_faults import Fault
from tests.workflows.durable.recorded_run import RecordedRun
from tests.workflows.durable.toys import make_chat_request
from tests.workflows.durable.whole_product import WholeProduct
from workflows.chat_models.call_watch import CallWatch
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import OpenAICompatible, connect_model
from workflows.durable.failures import RunHalted
from workflows.durable.policies import USUAL_SILENCE
from workflows.durable.silence import SilencePolicy

CALLS = 17
SOON = SilencePolicy(tell_after=timedelta(seconds=0.2), give_up_after=timedelta(seconds=1))
LONG_ANSWER = " ".join(f"word {n}" for n in range(200))


@contextlib.asynccontextmanager
async def connect_to(stub: ModelStub, stream: bool = True) -> AsyncIterator[OpenAICompatible]:
    async with serve_model_stub(stub), connect_model(ModelEndpoint(stub.base_url, "toy", stream=stream)) as model:
        yield model


@pytest.mark.parametrize("stream", [True, False])
async def test_a_hanging_call_is_told_given_up_and_made_once_more(house: WholeProduct, stream: bool) -> None:
    stub = ModelStub()
    async with connect_to(stub, stream) as model, house.start_worker(chat=model) as shop:
        shop.silence = SOON
        stub.faults.order(Fault.HANG, "outline")
        run_id = await house.ask()
        run = await house.wait_for(run_id, RunStatus.COMPLETED)
    assert stub.bill.outcomes == {"answered": CALLS, "aborted": 1}
    waits = [event["payload"] for event in await house.list_events(run_id, EventType.WAITING)]
    assert waits[0]["what"] == "model"
    assert waits[0]["silent_s"] >= 0
    assert "has sent nothing for" in waits[0]["detail"]
    calls = await house.list_events(run_id, EventType.MODEL_CALL)
    assert [call["agent"] for call in calls if call["payload"]["step"] == "given_up"] == ["report/given_up"]
    assert run.usage.model_calls == len(calls) == CALLS + 1
    assert run.usage.input_tokens == sum(call["payload"]["input_tokens"] for call in calls)


@pytest.mark.parametrize("fault", [Fault.HANG, Fault.STALL])
async def test_the_first_call_has_ended_before_it_is_made_once_more(desk: RecordedRun, fault: Fault) -> None:
    stub = ModelStub(answerer=lambda _: LONG_ANSWER)
    async with connect_to(stub) as model:
        stub.faults.order(fault)
        record = await desk.open_record(silence=SOON)
        answer = await record.ask("search/s1", "act", model, make_chat_request("one"))
    assert answer.text == LONG_ANSWER
    assert stub.bill.outcomes == {"answered": 1, "aborted": 1}
    assert stub.most_in_flight == 1
    spent = await desk.read_usage()
    assert spent == record.usage
    assert spent.output_tokens - answer.usage.output_tokens == (
        0 if fault is Fault.HANG else pytest.approx(len(LONG_ANSWER) / 8, rel=0.2)
    )


async def test_what_a_given_up_call_cost_stays_booked_when_the_stage_goes_on(desk: RecordedRun) -> None:
    stub = ModelStub()
    async with connect_to(stub) as model:
        for text in ("one", "two"):
            stub.faults.order(Fault.HANG)
            record = await desk.open_record(silence=SOON)
            await record.ask("search/s1", "act", model, make_chat_request("one"))
            if text == "two":
                await record.ask("search/s1", "act", model, make_chat_request("two"))
    assert stub.bill.outcomes == {"answered": 2, "aborted": 2}
    assert record.usage == await desk.read_usage()
    assert record.usage.model_calls == 4
    turns = await stored_turns.list_turns(desk.database, desk.run_id)
    assert [turn.agent for turn in turns] == ["search/s1", "search/s1"], "what was never answered is nobody's turn"


async def test_a_search_whose_only_call_was_given_up_has_no_answer(desk: RecordedRun) -> None:
    stub = ModelStub()
    async with connect_to(stub) as model:
        stub.faults.order(Fault.HANG)
        stub.faults.order(Fault.UNAUTHORIZED)
        record = await desk.open_record(silence=SOON)
        with pytest.raises(RunHalted):
            await record.ask("search/s1", "act", model, make_chat_request("one"))
    assert (await desk.read_usage()).model_calls == 1
    assert not await stored_turns.has_search_answers(desk.database, desk.run_id)


async def test_a_budget_that_the_given_up_call_used_up_halts_the_run(desk: RecordedRun) -> None:
    request = make_chat_request("one")
    stub = ModelStub()
    async with connect_to(stub) as model:
        stub.faults.order(Fault.HANG)
        capped = await RecordedRun(desk.database).begin(Budget(max_tokens=request.max_tokens + 10))
        record = await capped.open_record(silence=SOON)
        with pytest.raises(RunHalted) as halted:
            await record.ask("search/s1", "act", model, request)
    assert halted.value.halt is Halt.BUDGET
    assert stub.bill.outcomes == {"aborted": 1}


async def test_a_call_waits_its_turn_while_a_server_on_this_machine_answers_another(desk: RecordedRun) -> None:
    stub = ModelStub(answerer=lambda _: LONG_ANSWER)
    at_home = SilencePolicy(SOON.tell_after, SOON.give_up_after, on_this_machine=True)
    async with connect_to(stub) as model:
        stub.faults.order(Fault.HANG)
        record = await desk.open_record(silence=at_home)
        queued = asyncio.create_task(record.ask("search/s1/queued", "act", model, make_chat_request("first")))
        while not stub.in_flight:
            await asyncio.sleep(0.01)
        stub.faults.order(Fault.DRIP)
        await record.ask("search/s1", "act", model, make_chat_request("second"))
        assert stub.bill.outcomes == {"answered": 1}
        await queued
    assert stub.bill.outcomes == {"answered": 2, "aborted": 1}


async def test_what_the_socket_of_a_frozen_worker_holds_is_used(desk: RecordedRun, tmp_path: Path) -> None:
    bill = tmp_path / "bill"
    command = (sys.executable, "-m", "tests.support.model_stub", "--latency-ms", "500", "--bill", str(bill))
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    address = (await server.stdout.readline()).decode().strip()
    async with connect_model(ModelEndpoint(address, "toy")) as model:
        record = await desk.open_record(silence=SOON)
        asking = asyncio.create_task(record.ask("search/s1", "act", model, make_chat_request("one")))
        while EventType.WAITING not in await desk.list_event_types():
            await asyncio.sleep(0.01)
        while not (bill.exists() and "answered" in bill.read_text()):
            time.sleep(0.05)  # noqa: ASYNC251  (the whole loop hangs)
        time.sleep(1.5)  # noqa: ASYNC251
        await asking
    server.terminate()
    await server.wait()
    assert await desk.read_usage() == record.usage
    assert record.usage.model_calls == 1


def test_a_longer_call_may_be_silent_for_longer() -> None:
    def ask(words: int, most: int) -> ChatRequest:
        return make_chat_request("word " * words).model_copy(update={"max_tokens": most})

    calling, policy = CallWatch(), SilencePolicy()
    assert USUAL_SILENCE < policy.limit_of(ask(100, 100), calling) < policy.limit_of(ask(100, 4_000), calling)
    assert policy.limit_of(ask(100, 4_000), calling) < policy.limit_of(ask(50_000, 4_000), calling)
    at_home = SilencePolicy(on_this_machine=True)
    assert at_home.limit_of(ask(6_000, 1_000), calling) > 2 * policy.limit_of(ask(6_000, 1_000), calling)
    assert SOON.limit_of(ask(6_000, 4_000), calling) == SOON.give_up_after
    calling.hear()
    assert policy.limit_of(ask(6_000, 4_000), calling) == USUAL_SILENCE
