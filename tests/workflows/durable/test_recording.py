"""The record over a real database: what is stored is never asked again, halts hold before the next turn, caps are kept."""

import asyncio

import pytest

from app.domain.budget import StopReason, Usage
from app.domain.chat import ChatRequest, ChatRole, Message, ToolCall
from app.domain.contract import Halt
from app.domain.errors import ContextTooLong, ModelUnavailable, ToolUnavailable
from app.domain.run import EventType
from tests.support.stage_opening import open_stage
from tests.workflows.durable.recorded_run import RecordedRun, answer_slowly
from tests.workflows.durable.toys import Gate, ToyModel, ToyTool, make_chat_request
from workflows.agents.ports import BudgetSpent
from workflows.chat_models.scripted import ScriptedModel
from workflows.durable.failures import RunHalted, WorkerStopping
from workflows.durable.recording import DurableRecord


async def test_a_resumed_stage_answers_from_its_stored_turns(desk: RecordedRun) -> None:
    model, tool = ToyModel(), ToyTool()

    async def agent(record: DurableRecord, turns: int) -> list[str]:
        said = []
        for turn in range(turns):
            said.append((await record.ask("search/s1", "act", model, make_chat_request(f"turn {turn}"))).text)
            await record.use("search/s1", tool, ToolCall(name="search", arguments={"query": f"q{turn}"}))
        return said

    first = await agent(await desk.open_record(), 2)
    resumed = await desk.open_record()
    again = await agent(resumed, 3)
    assert again[:2] == first
    assert model.asked == ["turn 0", "turn 1", "turn 2"]
    assert len(tool.called) == 3
    assert resumed.usage == await desk.read_usage() == Usage(model_calls=3, tool_calls=3, input_tokens=300, output_tokens=30)
    assert (await desk.list_event_types()).count(EventType.MODEL_CALL) == 3


async def test_a_changed_request_supersedes_what_was_stored_after_it(desk: RecordedRun) -> None:
    model = ToyModel()
    record = await desk.open_record()
    for text in ("a", "b", "c"):
        await record.ask("search/s1", "act", model, make_chat_request(text))
    record = await desk.open_record()
    answers = [(await record.ask("search/s1", "act", model, make_chat_request(text))).text for text in ("a", "B", "c")]
    assert answers == ["re: a", "re: B", "re: c"]
    assert model.asked == ["a", "b", "c", "B", "c"]
    replayed = await desk.open_record()
    assert [(await replayed.ask("search/s1", "act", model, make_chat_request(text))).text for text in ("a", "B", "c")] == answers
    assert len(model.asked) == (await desk.read_usage()).model_calls == 5


async def test_parallel_agents_and_parallel_calls_of_one_agent_resume_each_for_itself(desk: RecordedRun) -> None:
    model, tool = ToyModel(), ToyTool()

    async def stage(record: DurableRecord, sections: int) -> None:
        await asyncio.gather(
            *(record.ask(f"report/section/{n}", "section", model, make_chat_request(f"section {n}")) for n in range(sections)),
            *(record.use("report", tool, ToolCall(name="search", arguments={"query": str(n)})) for n in range(4)),
        )

    await stage(await desk.open_record("report"), 3)
    await stage(await desk.open_record("report"), 5)
    assert sorted(model.asked) == [f"section {n}" for n in range(5)]
    assert len(tool.called) == 4


async def test_only_new_messages_of_a_growing_conversation_are_stored(desk: RecordedRun) -> None:
    record, model = await desk.open_record(), ToyModel()
    messages: tuple[Message, ...] = (
        Message(role=ChatRole.SYSTEM, content="rules"),
        Message(role=ChatRole.USER, content="question"),
    )
    await record.ask("search/s1", "act", model, ChatRequest(messages=messages))
    messages += (Message(role=ChatRole.ASSISTANT, content="act"), Message(role=ChatRole.USER, content="seen"))
    await record.ask("search/s1", "act", model, ChatRequest(messages=messages))
    turns = (await open_stage(desk.log, desk.run_id, "search/s1", None)).turns
    assert [(turn.carried, len(turn.messages)) for turn in turns] == [(0, 2), (2, 2)]


async def test_messages_of_a_call_that_failed_are_stored_with_the_next(desk: RecordedRun) -> None:
    record = await desk.open_record()
    await record.ask("search/s1", "act", ToyModel(), make_chat_request("first"))
    longer = ChatRequest(messages=(*make_chat_request("first").messages, Message(role=ChatRole.USER, content="seen")))
    with pytest.raises(ContextTooLong):
        await record.ask("search/s1", "act", ScriptedModel([ContextTooLong("no")]), longer)
    await record.ask("search/s1", "act", ToyModel(), longer)
    turns = (await open_stage(desk.log, desk.run_id, "search/s1", None)).turns
    assert [(turn.carried, turn.messages) for turn in turns] == [(0, longer.messages[:-1]), (0, longer.messages)]


async def test_a_failed_tool_call_is_a_stored_result(desk: RecordedRun) -> None:
    tool, bad = ToyTool(), ToolCall(name="search", arguments={"query": "bad"})
    first = await (await desk.open_record()).use("search/s1", tool, bad)
    again = await (await desk.open_record()).use("search/s1", tool, bad)
    assert first == again
    assert first.error == "a bad query"
    assert len(tool.called) == 1


@pytest.mark.parametrize("halt", [Halt.PAUSE, Halt.CANCEL])
async def test_a_halt_holds_before_the_next_turn_and_keeps_the_one_under_way(desk: RecordedRun, halt: Halt) -> None:
    gate = Gate("two")
    record, model = await desk.open_record(), ToyModel(hook=gate)
    await record.ask("search/s1", "act", model, make_chat_request("one"))
    second = asyncio.create_task(record.ask("search/s1", "act", model, make_chat_request("two")))
    await gate.reached.wait()
    await desk.set_halt(halt)
    gate.open()
    assert (await second).text == "re: two"
    with pytest.raises(RunHalted) as stopped:
        await record.ask("search/s1", "act", model, make_chat_request("three"))
    assert stopped.value.halt is halt
    assert model.asked == ["one", "two"]


async def test_an_interrupted_turn_halts_its_agent(desk: RecordedRun) -> None:
    gate = Gate("slow")
    record, model = await desk.open_record(), ToyModel(hook=gate)
    asking = asyncio.create_task(record.ask("search/s1", "act", model, make_chat_request("slow")))
    await gate.reached.wait()
    record.interrupt(RunHalted(Halt.PAUSE))
    with pytest.raises(RunHalted) as stopped:
        await asking
    assert stopped.value.halt is Halt.PAUSE
    assert model.answered == []


async def test_a_dropped_subtask_and_a_finishing_run_end_as_a_value(desk: RecordedRun) -> None:
    record, model = await desk.open_record(), ToyModel()
    await record.ask("search/s1", "act", model, make_chat_request("one"))
    await desk.log.drop_stage(desk.run_id, "search/s1")
    await record.ask("search/s1", "act", model, make_chat_request("two"))
    with pytest.raises(BudgetSpent) as dropped:
        await record.ask("search/s1", "act", model, make_chat_request("three"))
    assert dropped.value.reason is StopReason.DROPPED

    finishing = await desk.open_record("search/s2", finish=True)
    with pytest.raises(BudgetSpent) as spent:
        await finishing.ask("search/s2", "act", model, make_chat_request("four"))
    assert spent.value.reason is StopReason.BUDGET
    assert model.asked == ["one", "two"]


async def test_a_pause_ends_also_the_wait_of_a_stage_that_hands_over_what_it_has(desk: RecordedRun) -> None:
    tried = [0]

    async def away() -> str:
        tried[0] += 1
        if tried[0] == 3:
            await desk.set_halt(Halt.PAUSE)
        raise ToolUnavailable("connection refused")

    record = await desk.open_record(finish=True)
    with pytest.raises(RunHalted) as stopped:
        await record.call_index("search/s1", "source", away)
    assert (stopped.value.halt, tried) == (Halt.PAUSE, [3])


async def test_a_stopping_worker_begins_no_turn(desk: RecordedRun) -> None:
    record = await desk.open_record()
    desk.stopping = True
    with pytest.raises(WorkerStopping):
        await record.ask("search/s1", "act", ToyModel(), make_chat_request("one"))


async def test_an_outage_is_told_to_watchers_and_a_pause_ends_the_wait(desk: RecordedRun) -> None:
    async def down(_: str) -> None:
        raise ModelUnavailable("connection refused")

    record = await desk.open_record()
    asking = asyncio.create_task(record.ask("search/s1", "act", ToyModel(hook=down), make_chat_request("one")))
    while EventType.WAITING not in await desk.list_event_types():
        await asyncio.sleep(0.05)
    await desk.set_halt(Halt.PAUSE)
    with pytest.raises(RunHalted):
        await asking
    assert (await desk.list_event_types()).count(EventType.WAITING) == 1


async def test_an_attempt_that_another_replaced_stops(desk: RecordedRun) -> None:
    model = ToyModel()
    old = await desk.open_record()
    await old.ask("search/s1", "act", model, make_chat_request("one"))
    new = await desk.open_record()
    await old.ask("search/s1", "act", model, make_chat_request("two"))
    with pytest.raises(RunHalted) as stopped:
        await old.ask("search/s1", "act", model, make_chat_request("three"))
    assert stopped.value.halt is Halt.SUPERSEDED
    await new.ask("search/s1", "act", model, make_chat_request("one"))
    assert model.asked == ["one", "two"]
    # The replaced attempt's answer was paid for, so it is on the bill.
    assert (await desk.read_usage()).model_calls == 2


async def test_the_clock_shows_the_same_times_again(desk: RecordedRun) -> None:
    async def read(record: DurableRecord, model: ToyModel) -> list[float]:
        times = [record.read_clock()]
        for turn in range(3):
            await record.ask("search/s1", "act", model, make_chat_request(str(turn)))
            times.append(record.read_clock())
        return times

    first = await read(await desk.open_record(), ToyModel(hook=answer_slowly))
    again = await read(await desk.open_record(), ToyModel())
    assert first == again
    assert first == sorted(first)
    assert first[-1] > 0


async def test_what_was_told_is_not_told_again_while_replaying(desk: RecordedRun) -> None:
    model = ToyModel()

    async def agent(record: DurableRecord, turns: int) -> None:
        for turn in range(turns):
            await record.tell(EventType.WARNING, "search/s1", {"message": f"before {turn}"})
            await record.ask("search/s1", "act", model, make_chat_request(str(turn)))

    await agent(await desk.open_record(), 2)
    await agent(await desk.open_record(), 3)
    assert (await desk.list_event_types()).count(EventType.WARNING) == 3
