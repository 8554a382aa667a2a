"""Steering a run, as a client of the API sees it."""

from typing import Any
from uuid import UUID

import pytest

from app.domain.budget import Usage
from app.domain.plan import ResearchPlan
from app.domain.run import EventType, RunStatus
from app.domain.trajectory import Turn, TurnKind
from app.runs.storage.run_log import Reservation, RunLog
from tests.app.served_api import ApiClient, InMemoryRuns
from tests.support.stage_opening import open_stage

PLAN = {"subtasks": [{"id": "s1", "title": "First", "question": "What first?"}]}
SECOND = {"id": "s2", "title": "Second", "question": "What then?", "depends_on": ["s1"]}


@pytest.fixture
async def run(api: ApiClient) -> str:
    return await api.ask()


@pytest.fixture
async def planned(run: str, run_log: RunLog) -> str:
    await run_log.save_plan(UUID(run), ResearchPlan.model_validate(PLAN), (), EventType.PLAN_MADE)
    return run


async def history(api: ApiClient, run: str) -> list[tuple[str, Any]]:
    """Types and payloads of all events of a finished run."""
    return [(event["type"], event["payload"]) async for event in api.events(run)]


async def test_pause_resume_finish_and_cancel(api: ApiClient, run: str) -> None:
    assert (await api.post(f"/v1/runs/{run}/pause")).json["status"] == "paused"
    assert (await api.post(f"/v1/runs/{run}/pause")).json["status"] == "paused"
    assert (await api.post(f"/v1/runs/{run}/resume")).json["status"] == "running"
    assert (await api.post(f"/v1/runs/{run}/resume", {"finish": True})).json["detail"] == "finishing"
    reply = await api.post(f"/v1/runs/{run}/cancel")
    assert (reply.status, reply.json["status"]) == (202, "cancelled")
    assert reply.json["finished_at"] is not None
    assert (await api.post(f"/v1/runs/{run}/cancel")).status == 202
    statuses = [payload["status"] for type_, payload in await history(api, run) if type_ == "status_changed"]
    assert statuses == ["running", "paused", "running", "running", "cancelled"]


@pytest.mark.parametrize(
    ("method", "what", "body"),
    [
        ("POST", "pause", None),
        ("POST", "resume", None),
        ("POST", "notes", {"text": "too late"}),
        ("PUT", "budget", {"max_tokens": 1}),
        ("PUT", "plan", PLAN),
        ("POST", "plan/subtasks", SECOND),
        ("DELETE", "plan/subtasks/s1", None),
    ],
)
async def test_a_finished_run_cannot_be_changed(api: ApiClient, planned: str, method: str, what: str, body: Any) -> None:
    await api.post(f"/v1/runs/{planned}/cancel")
    reply = await api.send(method, f"/v1/runs/{planned}/{what}", json=body)
    assert reply.is_problem(409), reply.body


async def test_a_run_that_never_started_can_be_cancelled(api: ApiClient, workflows: InMemoryRuns) -> None:
    workflows.away = True
    run = await api.ask()
    workflows.away = False
    assert (await api.post(f"/v1/runs/{run}/cancel")).json["status"] == "cancelled"


async def test_a_run_whose_workflow_is_lost_starts_again_from_its_record(
    api: ApiClient, planned: str, workflows: InMemoryRuns
) -> None:
    await api.post(f"/v1/runs/{planned}/pause")
    workflows.open.clear()
    assert (await api.post(f"/v1/runs/{planned}/resume", {"finish": True})).json["status"] == "running"
    again = workflows.started[-1]
    assert (str(again.run_id), again.finish) == (planned, True)
    assert again.plan is not None
    assert again.plan.subtasks[0].id == "s1"


async def test_the_plan_is_edited(api: ApiClient, planned: str) -> None:
    added = await api.post(f"/v1/runs/{planned}/plan/subtasks", SECOND)
    assert (added.status, [subtask["id"] for subtask in added.json["subtasks"]]) == (201, ["s1", "s2"])
    dropped = await api.send("DELETE", f"/v1/runs/{planned}/plan/subtasks/s2")
    assert (dropped.status, [subtask["id"] for subtask in dropped.json["subtasks"]]) == (200, ["s1"])
    assert (await api.send("DELETE", f"/v1/runs/{planned}/plan/subtasks/s2")).is_problem(404)
    revised = await api.put(f"/v1/runs/{planned}/plan", {**PLAN, "intent": "look closer"})
    assert revised.json["intent"] == "look closer"
    assert (await api.get(f"/v1/runs/{planned}")).json["plan"]["intent"] == "look closer"


async def test_what_people_type_turns_no_direction(api: ApiClient, planned: str) -> None:
    typed, kept = "prices \u202eof\u2066 wool, \u05e6\u05de\u05e8\u200f (1890)", "prices of wool, \u05e6\u05de\u05e8\u200f (1890)"
    assert (await api.post(f"/v1/runs/{planned}/notes", {"text": typed})).json["text"] == kept
    added = await api.post(f"/v1/runs/{planned}/plan/subtasks", {**SECOND, "title": typed, "question": f"{typed}\x1b[2J"})
    assert [added.json["subtasks"][-1][name] for name in ("title", "question")] == [kept, f"{kept}[2J"]
    revised = await api.put(f"/v1/runs/{planned}/plan", {**PLAN, "intent": typed})
    assert revised.json["intent"] == kept


@pytest.mark.parametrize(
    "plan",
    [
        {"subtasks": []},
        {"subtasks": [{**SECOND, "depends_on": ["s9"]}]},
        {"subtasks": [{**SECOND, "depends_on": ["s2"]}]},
        {"subtasks": [{**SECOND, "id": "no spaces"}]},
    ],
)
async def test_an_impossible_plan_is_refused(api: ApiClient, planned: str, plan: Any) -> None:
    assert (await api.put(f"/v1/runs/{planned}/plan", plan)).is_problem(400)


async def test_there_is_no_plan_to_edit_before_it_is_made(api: ApiClient, run: str) -> None:
    assert (await api.put(f"/v1/runs/{run}/plan", PLAN)).is_problem(409)


async def test_a_plan_that_waits_is_approved_and_nothing_else_goes_on(api: ApiClient, run_log: RunLog) -> None:
    run = await api.ask(approve_plan=True)
    assert (await api.post(f"/v1/runs/{run}/approve")).is_problem(409)
    await run_log.save_plan(UUID(run), ResearchPlan.model_validate(PLAN), (), EventType.PLAN_MADE)
    await run_log.set_status(UUID(run), RunStatus.AWAITING_APPROVAL)
    for body in ({}, {"finish": True}):
        refused = await api.post(f"/v1/runs/{run}/resume", body)
        assert refused.is_problem(409)
        assert "approve it" in refused.json["detail"]
    assert (await api.put(f"/v1/runs/{run}/plan", PLAN)).status == 200
    for _ in range(2):
        reply = await api.post(f"/v1/runs/{run}/approve")
        assert (reply.status, reply.json["status"]) == (202, "running")
    assert (await run_log.load(UUID(run))).approved


async def test_a_note_is_kept_and_announced(api: ApiClient, run: str) -> None:
    reply = await api.post(f"/v1/runs/{run}/notes", {"text": "  look at 1890 "})
    assert (reply.status, reply.json["text"]) == (201, "look at 1890")
    await api.post(f"/v1/runs/{run}/cancel")
    assert ("note_added", {"text": "look at 1890"}) in await history(api, run)


@pytest.mark.parametrize("text", ["", "  ", "x" * 5_000, "nul\x00"])
async def test_an_unusable_note_is_refused(api: ApiClient, run: str, text: str) -> None:
    assert (await api.post(f"/v1/runs/{run}/notes", {"text": text})).is_problem(400)


async def test_a_spent_budget_must_be_raised_before_going_on(api: ApiClient, run_log: RunLog, run: str) -> None:
    await api.put(f"/v1/runs/{run}/budget", {"max_tokens": 10})
    opening = await open_stage(run_log, UUID(run), "plan", Reservation(10))
    turn = Turn(agent="plan", ordinal=0, kind=TurnKind.MODEL, step="plan", digest="d")
    spent = Usage(model_calls=1, input_tokens=8, output_tokens=3)
    await run_log.store_turn(
        UUID(run), "plan", opening.attempt, turn, spent, Reservation(10), Reservation(10), EventType.MODEL_CALL, {}
    )
    await run_log.set_status(UUID(run), RunStatus.BUDGET_REACHED, options=("finish", "raise_budget"))

    assert (await api.post(f"/v1/runs/{run}/resume")).is_problem(409)
    assert (await api.post(f"/v1/runs/{run}/resume", {"finish": True})).status == 202
    await run_log.set_status(UUID(run), RunStatus.BUDGET_REACHED)
    raised = await api.put(f"/v1/runs/{run}/budget", {"max_tokens": 100})
    assert raised.json["budget"] == {"max_tokens": 100, "max_cost_microusd": None, "max_seconds": None}
    assert raised.json["usage"]["output_tokens"] == 3
    assert (await api.post(f"/v1/runs/{run}/resume")).json["status"] == "running"


@pytest.mark.parametrize("budget", [{"max_tokens": -1}, {"max_tokens": 2**63}, {"max_tokens": "lots"}, {"maximum": 1}])
async def test_an_impossible_budget_is_refused(api: ApiClient, run: str, budget: Any) -> None:
    assert (await api.put(f"/v1/runs/{run}/budget", budget)).is_problem(400)


async def test_commands_fail_loudly_while_the_workflow_service_is_away(api: ApiClient, run: str, workflows: InMemoryRuns) -> None:
    workflows.away = True
    reply = await api.post(f"/v1/runs/{run}/pause")
    assert reply.is_problem(503)
    assert reply.headers["Retry-After"]
