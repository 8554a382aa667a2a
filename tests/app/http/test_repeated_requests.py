"""Requests that are sent twice, reads of what is known already, plans that two people edit, and pages of other sites."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from app.domain.contract import Draft, DraftRequest, ResearchInput
from app.domain.errors import Unavailable
from app.domain.plan import ResearchPlan
from app.domain.run import EventType
from app.http.services import Services, open_services
from app.idempotency import service
from app.runs.storage.run_log import RunLog
from tests.app.served_api import ApiClient, ApiReply, InMemoryRuns, serve_api
from tests.support.lossy_proxy import LossyProxy

ASKED = {"question": "Why tariffs?"}
PLAN = ResearchPlan.model_validate({"subtasks": [{"id": "s1", "title": "First", "question": "What first?"}]})


@pytest.fixture
async def planned_run(api: ApiClient, run_log: RunLog) -> str:
    run = await api.ask()
    await run_log.save_plan(UUID(run), PLAN, (), EventType.PLAN_MADE)
    return run


async def repeat_until_kept(api: ApiClient, key: str) -> ApiReply:
    """Ask again until the answer, which is sent before it is kept, is there."""
    while (again := await api.post("/v1/runs", ASKED, headers={"Idempotency-Key": key})).status == 409:
        await asyncio.sleep(0.01)
    return again


async def test_a_write_that_is_repeated_is_carried_out_once(api: ApiClient, workflows: InMemoryRuns) -> None:
    first = await api.post("/v1/runs", ASKED, headers={"Idempotency-Key": "key-1"})
    again = await repeat_until_kept(api, "key-1")
    assert (first.status, again.status, again.body) == (201, 201, first.body)
    assert again.headers["Location"] == first.headers["Location"]
    assert ("Idempotency-Replayed" in first.headers, again.headers["Idempotency-Replayed"]) == (False, "true")
    assert len(workflows.started) == 1
    other = await api.post("/v1/runs", {"question": "Another?"}, headers={"Idempotency-Key": "key-1"})
    assert other.is_problem(422)
    assert "new key" in other.json["detail"]


async def test_of_many_at_once_one_is_carried_out(api: ApiClient, workflows: InMemoryRuns) -> None:
    workflows.slow_s = 0.3
    replies = await asyncio.gather(*(api.post("/v1/runs", ASKED, headers={"Idempotency-Key": "key-2"}) for _ in range(8)))
    assert sorted({reply.status for reply in replies}) == [201, 409]
    assert all(reply.is_problem(409) for reply in replies if reply.status != 201)
    assert len(workflows.started) == 1
    assert (await repeat_until_kept(api, "key-2")).status == 201
    assert len(workflows.started) == 1


async def test_what_is_refused_leaves_the_key_free(api: ApiClient) -> None:
    headers = {"Idempotency-Key": "key-3"}
    assert (await api.post("/v1/runs", {"question": ""}, headers=headers)).is_problem(400)
    assert (await api.post("/v1/runs", ASKED, headers=headers)).status == 201


class Broken(InMemoryRuns):
    """A workflow service whose gateway has a bug: it fails after the run is stored."""

    async def start(self, request: ResearchInput) -> None:
        raise RuntimeError("a bug")


async def test_what_failed_half_way_is_not_carried_out_a_second_time(api_urls: tuple[str, str], run_log: RunLog) -> None:
    async with open_services(*api_urls, Broken(run_log)) as services, serve_api(services) as api:
        before = len((await api.get("/v1/runs?limit=100")).json["items"])
        assert (await api.post("/v1/runs", ASKED, headers={"Idempotency-Key": "key-5"})).is_problem(500)
        again = await api.post("/v1/runs", ASKED, headers={"Idempotency-Key": "key-5"})
        assert again.is_problem(409)
        assert "look for what it made" in again.json["detail"]
        assert again.json["type"].endswith(":conflict"), "a client need not wait for its answer"
        assert len((await api.get("/v1/runs?limit=100")).json["items"]) == before + 1


class Outage(InMemoryRuns):
    """A workflow service in whose first draft the database goes away."""

    line: LossyProxy | None = None

    async def draft(self, request: DraftRequest) -> Draft:
        if self.line is not None:
            line, self.line = self.line, None
            line.away = True
            line.hang_up()
            raise Unavailable("no worker answers")
        return await super().draft(request)


async def test_an_outage_does_not_hold_the_key_of_a_request_that_is_to_be_repeated(
    api_urls: tuple[str, str], run_log: RunLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "SETTLE_EVERY", timedelta(milliseconds=10))
    workflows, line, headers = Outage(run_log), LossyProxy(api_urls[0]), {"Idempotency-Key": "key-6"}
    workflows.line = line
    async with (
        line.serve_url() as address,
        open_services(address, api_urls[1], workflows) as services,
        serve_api(services) as api,
    ):
        assert (await api.post("/v1/rubrics", ASKED, headers=headers)).is_problem(503)
        assert (await api.post("/v1/rubrics", ASKED, headers=headers)).is_problem(503), "the database is still away"
        line.away = False
        while (again := await api.post("/v1/rubrics", ASKED, headers=headers)).status in (409, 503):
            await asyncio.sleep(0.01)
        assert again.status == 201


async def test_a_stream_is_not_started_twice(api: ApiClient, workflows: InMemoryRuns) -> None:
    asked = {"model": "minddr", "input": "Why?", "stream": True}
    headers = {"Idempotency-Key": "key-4"}
    async with api.session.post(f"{api.address}/openai/v1/responses", json=asked, headers=headers) as response:
        await response.content.readuntil(b"response.created")
    while True:
        again = await api.post("/openai/v1/responses", asked, headers=headers)
        if b"not kept" in again.body:
            break
        await asyncio.sleep(0.1)
    assert again.status == 409
    # The API also starts what an earlier test left in the queue.
    assert [run.query.question for run in workflows.started].count("Why?") == 1


@pytest.mark.parametrize("key", ["", "with blank", "é", "x" * 256])
async def test_a_key_that_is_none_is_refused(api: ApiClient, key: str) -> None:
    reply = await api.send("POST", "/v1/runs", json=ASKED, headers={"Idempotency-Key": key.encode().decode("latin-1")})
    assert reply.is_problem(400)


async def test_what_is_known_already_is_not_sent_again(api: ApiClient) -> None:
    run = await api.ask()
    for path in (f"/v1/runs/{run}", "/v1/runs", "/openai/v1/models", "/schema/openapi.json"):
        first = await api.get(path)
        tag = first.headers["ETag"]
        assert first.headers["Cache-Control"] == "private, no-cache"
        same = await api.get(path, headers={"If-None-Match": f'"other", W/{tag}'})
        assert (same.status, same.body, same.headers["ETag"]) == (304, b"", tag)
    await api.post(f"/v1/runs/{run}/pause")
    changed = await api.get(f"/v1/runs/{run}", headers={"If-None-Match": tag})
    assert changed.status == 200


async def test_a_plan_that_somebody_else_changed_is_not_overwritten(api: ApiClient, planned_run: str) -> None:
    path = f"/v1/runs/{planned_run}/plan"
    read = await api.get(path)
    tag, plan = read.headers["ETag"], read.json
    renamed = {**plan, "title": "Mine"}
    both = await asyncio.gather(
        *(api.send("PUT", path, json={**plan, "title": name}, headers={"If-Match": tag}) for name in ("Mine", "Yours"))
    )
    assert sorted(reply.status for reply in both) == [200, 412]
    assert next(reply for reply in both if reply.status == 412).is_problem(412)
    assert (await api.send("PUT", path, json=renamed, headers={"If-Match": tag})).is_problem(412)
    newest = (await api.get(path)).headers["ETag"]
    assert newest != tag
    assert (await api.send("PUT", path, json=renamed, headers={"If-Match": newest})).status == 200
    assert (await api.send("PUT", path, json=renamed, headers={"If-Match": "*"})).status == 200
    assert (await api.send("PUT", path, json=renamed)).status == 200


async def test_pages_of_named_origins_may_use_the_api(services: Services) -> None:
    page = "https://app.example"
    async with serve_api(services, origins=(page,)) as api:
        asked: dict[str, Any] = {"Origin": page, "Sec-Fetch-Site": "cross-site"}
        preflight = {**asked, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
        allowed = await api.send("OPTIONS", "/v1/runs", headers=preflight)
        assert allowed.status in (200, 204)
        assert allowed.headers["Access-Control-Allow-Origin"] == page
        assert "Access-Control-Allow-Credentials" not in allowed.headers
        made = await api.post("/v1/runs", ASKED, headers=asked)
        assert (made.status, made.headers["Access-Control-Allow-Origin"]) == (201, page)
        exposed = {name.strip().lower() for name in made.headers["Access-Control-Expose-Headers"].split(",")}
        assert {"etag", "retry-after", "ratelimit", "ratelimit-policy"} <= exposed, "what answers say, as test_limits.py has it"
        for foreign in ("https://evil.example", "https://app.example.evil.example", "null"):
            refused = await api.post("/v1/runs", ASKED, headers={"Origin": foreign})
            assert refused.is_problem(403)
            assert "Access-Control-Allow-Origin" not in refused.headers
