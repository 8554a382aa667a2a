"""An answer that was paid for is stored: though its agent, its attempt or the database went away meanwhile."""

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from app.domain.errors import Unavailable
from app.runs.storage.run_log import RunLog
from tests.support.patience import PATIENCE_S
from tests.workflows.durable.recorded_run import RecordedRun
from tests.workflows.durable.toys import Gate, ToyModel, make_chat_request
from workflows.durable.run_rooms import RunRoom, RunRooms


async def test_a_turn_is_stored_although_the_agent_that_asked_was_cancelled(desk: RecordedRun) -> None:
    gate = Gate("slow")
    record, model = await desk.open_record(), ToyModel(hook=gate)
    asking = asyncio.create_task(record.ask("search/s1", "act", model, make_chat_request("slow")))
    await gate.reached.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    gate.open()
    await record.drain(timedelta(seconds=PATIENCE_S))
    assert (await (await desk.open_record()).ask("search/s1", "act", model, make_chat_request("slow"))).text == "re: slow"
    assert model.asked == ["slow"]


async def test_an_aborted_turn_is_given_up(desk: RecordedRun) -> None:
    gate = Gate("slow")
    record, model = await desk.open_record(), ToyModel(hook=gate)
    asking = asyncio.create_task(record.ask("search/s1", "act", model, make_chat_request("slow")))
    await gate.reached.wait()
    record.abort()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert model.answered == []


async def test_a_paid_answer_is_kept_until_the_database_is_back(desk: RecordedRun) -> None:
    model = ToyModel()
    record = await desk.open_record(log=_Flaky(desk.database, failures=2))
    assert (await record.ask("search/s1", "act", model, make_chat_request("one"))).text == "re: one"
    assert model.asked == ["one"]
    assert (await desk.read_usage()).model_calls == 1


async def test_a_paid_answer_outlives_its_attempt(desk: RecordedRun) -> None:
    """The database and Temporal are away together: when they are back, the stage goes to another attempt first."""
    model, room, away = ToyModel(), RunRoom(), _Away(desk.database)
    record = await desk.open_record(log=away, room=room)
    asking = asyncio.create_task(record.ask("search/s1", "act", model, make_chat_request("one")))
    await away.tried.wait()
    asking.cancel()
    record.abort()
    waiting = asyncio.create_task(room.wait_until_stored(["search/s1"]))
    await asyncio.sleep(0)
    assert not waiting.done()
    away.back = True
    await waiting
    assert (await (await desk.open_record()).ask("search/s1", "act", model, make_chat_request("one"))).text == "re: one"
    assert model.asked == ["one"]
    assert (await desk.read_usage()).model_calls == 1


async def test_an_answer_that_came_too_late_for_its_attempt_serves_the_next_one_in_this_worker(desk: RecordedRun) -> None:
    room, gate = RunRooms(desk.log).room_of(desk.run_id), Gate("slow")
    model = ToyModel(hook=gate)
    old = await desk.open_record(room=room)
    asking = asyncio.create_task(old.ask("search/s1", "act", model, make_chat_request("slow")))
    await gate.reached.wait()
    new = await desk.open_record(room=room)
    gate.open()
    assert (await asking).text == "re: slow"
    assert (await new.ask("search/s1", "act", model, make_chat_request("slow"))).text == "re: slow"
    assert (await (await desk.open_record()).ask("search/s1", "act", model, make_chat_request("slow"))).text == "re: slow"
    assert model.asked == ["slow"]
    assert (await desk.read_usage()).model_calls == 1


class _Away(RunLog):
    """Stores nothing until it is back."""

    def __init__(self, database: asyncpg.Pool) -> None:
        super().__init__(database)
        self.back, self.tried = False, asyncio.Event()

    async def store_turn(self, *given: Any) -> Any:
        self.tried.set()
        if not self.back:
            raise Unavailable("no connection")
        return await super().store_turn(*given)


class _Flaky(RunLog):
    """Stores a turn, but the connection breaks before the answer arrives."""

    def __init__(self, database: asyncpg.Pool, failures: int) -> None:
        super().__init__(database)
        self.failures = failures

    async def store_turn(self, *given: Any) -> Any:
        receipt = await super().store_turn(*given)
        if self.failures:
            self.failures -= 1
            raise Unavailable("the connection was lost")
        return receipt
