"""What a run's tools found is kept for all workers."""

from app.domain.chat import ToolResult
from tests.workflows.durable.recorded_run import RecordedRun
from workflows.durable.run_rooms import PostgresToolStore


async def test_what_one_worker_stored_another_one_loads(desk: RecordedRun) -> None:
    first = PostgresToolStore(desk.log, desk.run_id)
    assert await first.load("wool") is None
    await first.save("wool", ToolResult(error="no such page"))
    assert await first.load("wool") == ToolResult(error="no such page")
    assert await PostgresToolStore(desk.log, desk.run_id).load("wool") == ToolResult(error="no such page")


async def test_the_first_of_two_results_of_one_call_stays(desk: RecordedRun) -> None:
    first, second = (PostgresToolStore(desk.log, desk.run_id) for _ in range(2))
    assert await second.load("wool") is None
    await first.save("wool", ToolResult(error="first"))
    assert await second.save("wool", ToolResult(error="second")) == ToolResult(error="first")
    assert await second.load("wool") == ToolResult(error="first")
