"""A run whose model asks for a long patience says so as long as an agent waits."""

from uuid import UUID

from app.domain.run import EventType, RunStatus
from app.runs.storage.run_log import RunLog
from tests.app.served_api import ApiClient

LONG = {"what": "model", "detail": "429", "retry_in_s": 3_600, "options": ["wait", "finish", "pause", "cancel"]}
CALL = {"step": "act", "model": "m"}


async def test_a_long_wait_of_one_agent_is_seen_until_that_agent_goes_on(api: ApiClient, run_log: RunLog) -> None:
    run = await api.ask("Who wrote it?")

    async def reason_after(event: EventType, agent: str, payload: dict[str, object]) -> str | None:
        await run_log.append_event(UUID(run), event, agent, payload)
        return (await api.get(f"/v1/runs/{run}")).json["reason"]

    assert await reason_after(EventType.WAITING, "search/s1", LONG) == "model_busy"
    assert await reason_after(EventType.MODEL_CALL, "search/s2", CALL) == "model_busy", "a sibling is at work"
    assert await reason_after(EventType.MODEL_CALL, "search/s1", CALL) is None
    assert await reason_after(EventType.WAITING, "search/s1", LONG) == "model_busy"
    await run_log.set_status(UUID(run), RunStatus.PAUSED, "paused")
    await run_log.set_status(UUID(run), RunStatus.RUNNING)
    assert (await api.get(f"/v1/runs/{run}")).json["reason"] is None
