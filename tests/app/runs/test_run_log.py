"""The record of a run: what is stored, what a repeated attempt finds, and who is fenced off."""

import asyncio
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.domain.budget import Usage
from app.domain.chat import ChatRole, Completion, Message, ToolCall, ToolResult
from app.domain.contract import Halt
from app.domain.errors import NotFound, Unavailable
from app.domain.plan import ResearchPlan, Subtask
from app.domain.run import EventType, RunStatus
from app.domain.trajectory import Turn, TurnKind
from app.runs.storage import events, runs, steering, tool_results
from app.runs.storage.run_log import NOTHING, Receipt, Reservation, RunLog, SourceSnapshot
from tests.app.conftest import NewRun
from tests.support.stage_opening import open_stage

END_WAITING = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%store_turn%'"""
USAGE = Usage(model_calls=1, input_tokens=30, output_tokens=12, cost_microusd=7)


def turn(ordinal: int, digest: str = "", agent: str = "search/s1", text: str = "an answer") -> Turn:
    said = (Message(role=ChatRole.USER, content="look\x00 \U0001f600"),)
    answer = Completion(text=text, model="stub", usage=USAGE)
    digest = digest or f"d{ordinal}"
    return Turn(agent=agent, ordinal=ordinal, kind=TurnKind.MODEL, step="act", digest=digest, messages=said, completion=answer)


async def store(log: RunLog, run: UUID, attempt: int, what: Turn, stage: str = "search/s1") -> Receipt:
    return await log.store_turn(run, stage, attempt, what, USAGE, NOTHING, None, EventType.MODEL_CALL, {"step": what.step})


async def test_a_repeated_attempt_finds_every_turn_in_order(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    opening = await open_stage(run_log, run, "search/s1", None, title="First")
    assert (opening.result, opening.turns, opening.halt, opening.granted, opening.attempt) == (None, [], Halt.NONE, True, 1)
    call = ToolCall(name="search", arguments={"query": "duties"})
    tool = Turn(
        agent="search/s1", ordinal=1, kind=TurnKind.TOOL, step="use", digest="t", call=call, result=ToolResult(error="none")
    )
    stored = [turn(0), tool, turn(2), turn(0, agent="search/s1/critic")]
    for what in stored:
        await store(run_log, run, 1, what)
    await open_stage(run_log, run, "search/s10", None)
    again = await open_stage(run_log, run, "search/s1", None)
    assert (again.turns, again.attempt) == (stored, 2)
    for row in await pool.fetch("SELECT body FROM turns WHERE run_id = $1", run):
        assert b"null" not in row["body"], "what a turn does not have takes no room"


async def test_a_changed_request_supersedes_and_stays_on_record(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    await open_stage(run_log, run, "search/s1", None)
    await store(run_log, run, 1, turn(0, "old"))
    await store(run_log, run, 1, turn(1, "kept"))
    await store(run_log, run, 1, turn(0, "new", text="another"))
    again = await open_stage(run_log, run, "search/s1", None)
    assert sorted(t.digest for t in again.turns) == ["kept", "new"]
    assert await pool.fetchval("SELECT count(*) FROM turns WHERE run_id = $1", run) == 3


async def test_a_turn_sent_twice_is_stored_and_billed_once(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    await open_stage(run_log, run, "search/s1", None)
    first = await store(run_log, run, 1, turn(0))
    assert await store(run_log, run, 1, turn(0)) == first
    found = await runs.get(pool, run)
    assert found is not None
    assert (found.usage, found.last_seq) == (USAGE, first.seq)


async def test_an_attempt_taken_for_dead_pays_and_writes_nothing(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    await open_stage(run_log, run, "search/s1", None)
    await open_stage(run_log, run, "search/s1", None)
    receipt = await store(run_log, run, 1, turn(0))
    assert (receipt.halt, receipt.granted) == (Halt.SUPERSEDED, False)
    assert await run_log.reserve(run, "search/s1", 1, NOTHING, Reservation(5)) == (Halt.SUPERSEDED, False)
    assert not await run_log.close_stage(run, "search/s1", 1, b"late", [], {})
    again = await open_stage(run_log, run, "search/s1", None)
    assert (again.turns, again.result) == ([], None)
    found = await runs.get(pool, run)
    assert found is not None
    assert found.usage == USAGE


async def test_a_finished_stage_hands_over_its_first_result(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    await open_stage(run_log, run, "plan", Reservation(9, 9))
    snapshots = [SourceSnapshot("b" * 64, "two\x00"), SourceSnapshot("a" * 64, "one")]
    assert await run_log.close_stage(run, "plan", 1, b"\x00result", snapshots, {"stop": "sufficient"})
    assert not await run_log.close_stage(run, "plan", 1, b"another", [], {})
    again = await open_stage(run_log, run, "plan", Reservation(9, 9))
    assert (again.result, again.halt) == (b"\x00result", Halt.NONE)
    assert await run_log.missing_snapshots(["a" * 64, "b" * 64, "c" * 64]) == {"c" * 64}
    assert await pool.fetchval("SELECT reserved_tokens FROM ledgers WHERE run_id = $1", run) == 0
    assert [event.type for event in await events.read_after(pool, run, 0)] == ["run_created", "stage_started", "stage_finished"]


async def test_a_stage_opens_with_the_results_it_builds_on(run_log: RunLog, new_run: NewRun) -> None:
    run = await new_run()
    for name in ("search/s1", "search/s2"):
        await open_stage(run_log, run, name, None)
        await run_log.close_stage(run, name, 1, name.encode(), [], {})
    opening = await open_stage(run_log, run, "report", None, needs=["search/s2", "search/s9", "search/s1"])
    assert opening.needed == [b"search/s2", None, b"search/s1"]


async def test_notes_are_pinned_when_a_stage_first_opens(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    await steering.add_note(pool, run, "before")
    assert (await open_stage(run_log, run, "search/s1", None)).notes == ("before",)
    await steering.add_note(pool, run, "after")
    assert (await open_stage(run_log, run, "search/s1", None)).notes == ("before",)
    assert (await open_stage(run_log, run, "report", None)).notes == ("before", "after")


@pytest.mark.parametrize("wish", [Halt.PAUSE, Halt.CANCEL])
async def test_a_wish_arrives_with_the_next_turn(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool, wish: Halt) -> None:
    run = await new_run()
    await open_stage(run_log, run, "search/s1", None)
    await steering.set_control(pool, run, wish, replacing=(Halt.NONE,))
    assert (await store(run_log, run, 1, turn(0))).halt is wish
    opening = await open_stage(run_log, run, "search/s2", None)
    assert (opening.halt, opening.granted) == (wish, False)
    assert not any(b"search/s2" in event.body for event in await events.read_after(pool, run, 0))


async def test_only_the_dropped_stage_is_told_to_stop(run_log: RunLog, new_run: NewRun) -> None:
    run = await new_run()
    for stage in ("search/s1", "search/s2"):
        await open_stage(run_log, run, stage, None)
    await run_log.drop_stage(run, "search/s1")
    await run_log.drop_stage(run, "search/s3")
    assert (await store(run_log, run, 1, turn(0))).halt is Halt.DROPPED
    assert (await store(run_log, run, 1, turn(0), "search/s2")).halt is Halt.NONE
    assert (await open_stage(run_log, run, "search/s3", None)).halt is Halt.DROPPED


async def test_the_first_final_status_stays(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    assert await run_log.set_status(run, RunStatus.RUNNING) == 2
    assert await run_log.set_status(run, RunStatus.RUNNING) is None
    assert await run_log.set_status(run, RunStatus.BUDGET_REACHED, "spent\x00", ["finish"]) == 3
    assert await run_log.set_status(run, RunStatus.CANCELLED) == 4
    assert await run_log.set_status(run, RunStatus.COMPLETED) is None
    found = await runs.get(pool, run)
    assert found is not None
    assert found.status is RunStatus.CANCELLED
    assert found.finished_at is not None
    assert (await open_stage(run_log, run, "report", None)).halt is Halt.CANCEL


async def test_a_run_is_loaded_as_it_was_left(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run(question="What remains?")
    plan = ResearchPlan(subtasks=(Subtask(id="s1", title="\x00 nul", question="?"),))
    await run_log.save_plan(run, plan, ("s2",), EventType.PLAN_MADE)
    await steering.set_finish(pool, run, True)
    loaded = await run_log.load(run)
    assert (loaded.query.question, loaded.plan, loaded.dropped, loaded.finish) == ("What remains?", plan, ("s2",), True)


async def test_identical_tool_calls_agree_on_one_result(new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    assert await tool_results.recall(pool, run, "k") is None
    kept = await asyncio.gather(*(tool_results.remember(pool, run, "k", b"%d" % n) for n in range(8)))
    assert len(set(kept)) == 1
    assert await tool_results.recall(pool, run, "k") == kept[0]
    assert await tool_results.recall(pool, await new_run(), "k") is None


async def test_only_a_tools_result_is_kept_without_waiting_for_the_disk(new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    async with pool.acquire() as connection:
        async with connection.transaction():
            await tool_results.remember(connection, run, "k", b"found")
            assert await connection.fetchval("SHOW synchronous_commit") == "off"
        assert await connection.fetchval("SHOW synchronous_commit") == "on"
        assert await tool_results.remember(connection, run, "k", b"another") == b"found"
        assert await connection.fetchval("SHOW synchronous_commit") == "on"


async def test_what_does_not_exist_is_said_to_be_missing(run_log: RunLog, new_run: NewRun) -> None:
    nobody, run = uuid4(), await new_run()
    with pytest.raises(NotFound):
        await open_stage(run_log, nobody, "plan", None)
    with pytest.raises(NotFound):
        await run_log.append_event(nobody, EventType.WARNING, "", {})
    with pytest.raises(NotFound):
        await run_log.load(nobody)
    with pytest.raises(NotFound):
        await store(run_log, run, 1, turn(0), "never/opened")
    with pytest.raises(NotFound):
        await run_log.reserve(run, "never/opened", 1, NOTHING, Reservation(10, 1))


async def test_a_database_in_need_is_worth_waiting_for_and_a_mistake_is_not(
    run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool
) -> None:
    run = await new_run()
    await open_stage(run_log, run, "search/s1", None)
    await pool.execute("""
        CREATE FUNCTION in_need() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.step <> 'act' THEN
                RAISE EXCEPTION 'in need' USING ERRCODE = NEW.step;
            END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER in_need BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION in_need()""")
    try:
        for code in ("53100", "53200", "40P01", "57014", "25006"):  # disk, memory, deadlock, a cancelled statement, a standby
            with pytest.raises(Unavailable, match="in need"):
                await store(run_log, run, 1, turn(0).model_copy(update={"step": code}))
        with pytest.raises(asyncpg.CheckViolationError):
            await store(run_log, run, 1, turn(0).model_copy(update={"step": "23514"}))
    finally:
        await pool.execute("DROP TRIGGER in_need ON turns; DROP FUNCTION in_need")
    assert (await store(run_log, run, 1, turn(0))).halt is Halt.NONE


async def test_a_turn_is_repeated_safely_after_an_outage(run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool) -> None:
    run = await new_run()
    await open_stage(run_log, run, "search/s1", None)
    async with pool.acquire() as blocker:
        block = blocker.transaction()
        await block.start()
        await blocker.execute("SELECT FROM ledgers WHERE run_id = $1 FOR UPDATE", run)
        storing = asyncio.create_task(store(run_log, run, 1, turn(0)))
        while not await pool.fetchval(END_WAITING):
            await asyncio.sleep(0.01)
        await block.rollback()
    with pytest.raises(Unavailable):
        await storing
    assert (await store(run_log, run, 1, turn(0))).halt is Halt.NONE
    found = await runs.get(pool, run)
    assert found is not None
    assert found.usage == USAGE
