"""Asking, listing and looking, as a client of the API sees it."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from app.domain.run import RunStatus
from app.runs.storage.run_log import RunLog
from tests.app.served_api import ApiClient, InMemoryRuns

NOBODY = "7d1c3b1e-0c0c-4f4e-9d5a-3c8a5f0f6b11"


async def test_a_question_becomes_a_run_that_is_started(api: ApiClient, workflows: InMemoryRuns) -> None:
    reply = await api.post("/v1/runs", {"question": "  Why tariffs?  ", "effort": "quick", "budget": {"max_tokens": 5_000}})
    run = reply.json
    assert (reply.status, reply.headers["Location"]) == (201, f"/v1/runs/{run['id']}")
    assert run["query"]["question"] == "Why tariffs?"
    assert (run["query"]["effort"], run["query"]["language"], run["status"]) == ("quick", "en", "running")
    assert run["budget"]["max_tokens"] == 5_000
    assert [str(request.run_id) for request in workflows.started] == [run["id"]]
    assert (await api.get(f"/v1/runs/{run['id']}")).json == run


async def test_what_is_chosen_is_kept_and_what_is_not_stays_open(api: ApiClient, workflows: InMemoryRuns) -> None:
    chosen = {
        "length": "short", "tone": "plain", "audience": " farmers\n and \u202eowners ", "format": "table_first",
        "published_from": "1850-01-01", "published_to": "1899-12-31", "sources": ["corpora", "web"],
        "domains_allowed": ["https://WWW.Loc.gov/x"], "domains_refused": ["blog.example"], "tools_that_write": ["shop.order"],
        "clarified": [{"question": "Which country?", "answer": "The United States"}],
    }  # fmt: skip
    query = (await api.post("/v1/runs", {"question": "Why tariffs?", **chosen})).json["query"]
    assert query["style"] == {"length": "short", "tone": "plain", "audience": "farmers and owners", "format": "table_first"}
    assert query["scope"]["domains_allowed"] == ["www.loc.gov"]
    assert query["scope"]["published_to"] == "1899-12-31"
    assert query["scope"]["tools_that_write"] == ["shop.order"]
    assert query["clarified"] == chosen["clarified"]
    assert workflows.started[-1].query.model_dump(mode="json") == query
    plain = (await api.post("/v1/runs", {"question": "Why tariffs?"})).json["query"]
    assert (plain["style"], plain["scope"], plain["approve_plan"], plain["rubric"]) == (None, None, False, False)


async def test_runs_are_narrowed_by_phase_day_person_and_words(api: ApiClient, run_log: RunLog) -> None:
    ready, under_way = [(await api.post("/v1/runs", {"question": f"Why {what}?"})).json["id"] for what in ("tariffs", "treaties")]
    await run_log.set_status(UUID(ready), RunStatus.COMPLETED)

    async def listed(query: str) -> list[str]:
        found = [run["id"] for run in (await api.get(f"/v1/runs?{query}")).json["items"]]
        return [run for run in found if run in (ready, under_way)]

    today = datetime.now(UTC).date()
    assert await listed("phase=completed") == [ready]
    assert await listed("phase=under_way") == [under_way]
    assert await listed("phase=waiting") == []
    assert await listed(f"since={today - timedelta(days=1)}&until={today + timedelta(days=1)}") == [under_way, ready]
    assert await listed(f"since={today + timedelta(days=2)}") == []
    assert await listed("own=true&q=tariffs&phase=completed") == [ready]
    assert await listed(f"phase=under_way&before={under_way}") == []
    assert (await api.get("/v1/runs?phase=lost")).is_problem(400)


async def test_the_way_of_writing_is_chosen_with_the_question(api: ApiClient, workflows: InMemoryRuns) -> None:
    chosen = {"system": "minddr", "beside": ["deeprubric"], "composition": "single_pass", "one_conversation": True}
    query = (await api.post("/v1/runs", {"question": "Why tariffs?", **chosen})).json["query"]
    assert (query["writer"]["composition"], query["one_conversation"]) == ("single_pass", True)
    assert {(r.query.system, r.query.writer.composition, r.query.one_conversation) for r in workflows.started} == {
        ("minddr", "single_pass", True),
        ("deeprubric", "single_pass", True),
    }
    plain = (await api.post("/v1/runs", {"question": "Why tariffs?"})).json["query"]
    assert (plain["writer"]["composition"], plain["one_conversation"]) == (None, False)


async def test_the_language_is_detected(api: ApiClient) -> None:
    assert (await api.post("/v1/runs", {"question": "总统们怎样为关税辩护？"})).json["query"]["language"] == "zh"


async def test_pages_of_runs_newest_first(api: ApiClient) -> None:
    asked = [await api.ask(f"question {n}?") for n in range(5)]
    seen: list[str] = []
    before = ""
    while True:
        page = (await api.get(f"/v1/runs?limit=2{before}")).json
        seen += [run["id"] for run in page["items"]]
        if page["next"] is None or asked[0] in seen:
            break
        before = f"&before={page['next']}"
    assert seen[:5] == asked[::-1]


async def test_a_run_waits_for_the_workflow_service_and_starts_by_itself(api: ApiClient, workflows: InMemoryRuns) -> None:
    workflows.away = True
    reply = await api.post("/v1/runs", {"question": "Is anybody there?"})
    run = reply.json
    assert (reply.status, run["status"]) == (201, "queued")
    assert "workflow service" in run["detail"]
    assert (await api.post(f"/v1/runs/{run['id']}/resume")).is_problem(503)
    workflows.away = False
    assert (await api.post(f"/v1/runs/{run['id']}/resume")).json["status"] == "running"


async def test_a_start_that_is_answered_too_late_leaves_the_run_running(api: ApiClient, workflows: InMemoryRuns) -> None:
    workflows.unheard = True
    run = (await api.post("/v1/runs", {"question": "Did anybody hear that?"})).json
    assert (run["status"], run["detail"]) == ("running", "")
    paused = await api.post(f"/v1/runs/{run['id']}/pause")
    assert paused.json["status"] == "paused"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"question": ""}, "empty"),
        ({"question": " \n\t "}, "empty"),
        ({"question": "Why?", "system": "react", "composition": "single_pass"}, "holds for the system minddr"),
        ({"question": "Why?", "one_conversation": True}, "a way of the system deeprubric"),
        ({"question": "\u202e\u200b"}, "empty"),
        ({"question": "x" * 100_000}, "100000 characters"),
        ({"question": "drop\x00table"}, "control character"),
        ({"question": "ring\x07"}, "control character"),
        ({"question": "x?", "published_from": "2021-01-01", "published_to": "2020-01-01"}, "exchange them"),
        ({"question": "x?", "domains_refused": ["nowhere"]}, "is no domain"),
        ({"question": "x?", "sources": ["collections"]}, "name them in `collections`"),
        ({"question": "x?", "sources": ["web"], "collections": ["mine"]}, "leaves them out"),
        ({"question": "x?", "length": "endless"}, "length"),
        ({}, "question"),
        ({"question": 5}, "question"),
        ({"question": "a?", "effort": "heroic"}, "effort"),
        ({"question": "a?", "typo": 1}, "typo"),
        ({"question": "a?", "budget": {"max_tokens": 0}}, "max_tokens"),
        ({"question": "a?", "system": "oracle"}, "system"),
        ([], "object"),
        ("text", "object"),
        (None, ""),
    ],
)
async def test_a_bad_question_is_refused_with_the_reason(api: ApiClient, body: object, reason: str) -> None:
    reply = await api.post("/v1/runs", body)
    assert reply.is_problem(400), reply.body
    assert reason in reply.body.decode()


@pytest.mark.parametrize(
    "body",
    [
        b'{"question": "\xff\xfe"}',
        b'{"question": "\\ud800"}',
        b"{",
        b"",
        b"\x00",
        b'{"question": "a?"} x',
        b"[" * 200_000,
        b'{"q":' * 9_999,
    ],
)
async def test_what_is_not_json_in_utf8_is_refused(api: ApiClient, body: bytes) -> None:
    reply = await api.send("POST", "/v1/runs", data=body, headers={"Content-Type": "application/json"})
    assert reply.is_problem(400), reply.body


async def test_a_megabyte_is_too_much(api: ApiClient) -> None:
    assert (await api.post("/v1/runs", {"question": "x" * 1_100_000})).is_problem(413)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"/v1/runs/{NOBODY}", 404),
        ("GET", f"/v1/runs/{NOBODY}/events", 404),
        ("GET", f"/v1/runs/{NOBODY}/report", 404),
        ("GET", f"/v1/runs/{NOBODY}/evidence", 404),
        ("GET", f"/v1/snapshots/{'0' * 64}", 404),
        ("GET", "/v1/snapshots/zero", 400),
        ("GET", "/v1/runs/not-a-uuid", 404),
        ("GET", "/nowhere", 404),
        ("GET", f"/v1/runs?before={NOBODY}", 400),
        ("GET", "/v1/runs?limit=0", 400),
        ("GET", "/v1/runs?limit=many", 400),
        ("GET", f"/v1/runs/{NOBODY}/events?after=-1", 400),
        ("DELETE", f"/v1/runs/{NOBODY}", 404),
        ("PUT", "/v1/runs", 405),
        ("DELETE", f"/v1/runs/{NOBODY}/report", 405),
        ("POST", f"/v1/runs/{NOBODY}/pause", 404),
        ("POST", f"/v1/runs/{NOBODY}/resume", 404),
        ("POST", f"/v1/runs/{NOBODY}/cancel", 404),
        ("DELETE", f"/v1/runs/{NOBODY}/plan/subtasks/s1", 404),
    ],
)
async def test_every_error_is_a_problem(api: ApiClient, method: str, path: str, status: int) -> None:
    reply = await api.send(method, path)
    assert reply.is_problem(status), reply.body
