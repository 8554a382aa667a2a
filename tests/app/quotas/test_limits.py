"""Quotas, usage and the audit log, as their readers see them."""

import asyncio
import csv
import io
import json
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg
import pytest

from app.accounts.service.policy import AccountPolicy
from app.audit.service import as_csv
from app.audit.storage import AuditEntry
from app.domain.budget import Usage
from app.domain.limits import FASTEST_PACE, Quota
from app.domain.revision import TaskStatus
from app.domain.run import EventType, RunStatus
from app.http.services import open_services
from app.reports.storage import report_tasks
from app.runs.storage.run_log import RunLog
from tests.app.browser import Browser, open_browser
from tests.app.conftest import NewBrowser
from tests.app.finished_run import write_end
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api


async def used(pool: asyncpg.Pool, run: str, tokens: int, cost: int) -> None:
    statement = "UPDATE ledgers SET input_tokens = $2, cost_microusd = $3 WHERE run_id = $1"
    await pool.execute(statement, UUID(run), tokens, cost)


async def test_requests_a_minute_are_counted_told_and_refused(
    new_browser: NewBrowser, addresses: Iterator[str], api: ApiClient
) -> None:
    owner, stranger = await new_browser(), await new_browser()
    await owner.sign_up(next(addresses))
    await stranger.sign_up(next(addresses))
    made = (await owner.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]})).json
    key, key_id = {"Authorization": f"Bearer {made['key']}"}, made["info"]["id"]
    assert "RateLimit" not in (await owner.get("/v1/runs")).headers
    began = time.monotonic()
    assert (await owner.put("/v1/quotas", {"requests_per_minute": 2, "key_id": key_id})).status == 200
    assert (await owner.put("/v1/quotas", {"requests_per_minute": 8})).json["organisation"]["requests_per_minute"] == 8
    told = (await api.get("/v1/runs", headers=key)).headers
    assert told["RateLimit-Policy"] == '"minute";q=2;w=60'
    assert told["RateLimit"] in ('"minute";r=1;t=30', '"minute";r=1;t=31')
    replies = [await api.get("/v1/runs", headers=key) for _ in range(3)]
    assert [reply.status for reply in replies] == [200, 429, 429]
    assert replies[1].is_problem(429)
    assert "this key may send 2 requests a minute" in replies[1].json["detail"]
    assert 29 - (time.monotonic() - began) <= int(replies[1].headers["Retry-After"]) <= 30
    rest = [(await owner.get("/v1/runs")).status for _ in range(8)]
    given_back = int((time.monotonic() - began) * 8 / 60)
    assert rest[:3] == [200] * 3
    assert rest.count(200) <= 5 + given_back, "what the key sent counts for its organisation too"
    assert (await stranger.get("/v1/runs")).status == 200


async def test_a_pace_that_the_database_cannot_count_is_refused_and_a_stored_one_is_no_limit(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner = await new_browser()
    me = await owner.sign_up(next(addresses))
    assert (await owner.put("/v1/quotas", {"requests_per_minute": FASTEST_PACE + 1})).is_problem(400)
    assert (await owner.put("/v1/quotas", {"requests_per_minute": FASTEST_PACE})).status == 200
    assert f"q={FASTEST_PACE};" in (await owner.get("/v1/runs")).headers["RateLimit-Policy"]
    stored = "UPDATE quotas SET requests_per_minute = $2 WHERE organisation_id = $1"
    await pool.execute(stored, UUID(me["organisation"]["id"]), 120_000_000)
    reply = await owner.get("/v1/runs")
    assert (reply.status, "RateLimit" in reply.headers) == (200, False)
    assert (await owner.put("/v1/quotas", {})).status == 200


async def test_a_rubric_for_several_systems_is_not_paid_for_where_the_runs_cannot_begin(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner = await new_browser()
    organisation = UUID((await owner.sign_up(next(addresses)))["organisation"]["id"])
    await owner.put("/v1/quotas", {"concurrent_runs": 1})
    asked = {"question": "Who paid?", "rubric": "auto", "beside": ["react"]}
    refused = await owner.post("/v1/runs", asked)
    assert refused.is_problem(429), "there is a place for one of the two"
    assert "0 of the 1 runs" in refused.json["detail"]
    assert "this asks for 2" in refused.json["detail"]
    assert (await owner.post("/v1/runs", asked | {"beside": ["minddr"]})).is_problem(400)
    drafts = "SELECT count(*) FROM drafts WHERE organisation_id = $1"
    assert await pool.fetchval(drafts, organisation) == 0
    await owner.put("/v1/quotas", {"concurrent_runs": 2})
    assert (await owner.post("/v1/runs", asked)).status == 201
    assert await pool.fetchval(drafts, organisation) == 1


async def test_runs_at_a_time_tokens_and_money(new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    question = {"question": "One more?"}
    await owner.put("/v1/quotas", {"concurrent_runs": 2})
    replies = await asyncio.gather(*(owner.post("/v1/runs", question) for _ in range(5)))
    assert sorted(reply.status for reply in replies) == [201, 201, 429, 429, 429], "of many at once, two are let in"
    refused = next(reply for reply in replies if reply.status == 429)
    assert "2 of the 2 runs" in refused.json["detail"]
    run = next(reply.json["id"] for reply in replies if reply.status == 201)
    await owner.post(f"/v1/runs/{run}/cancel")
    assert (await owner.post("/v1/runs", question)).status == 201
    await used(pool, run, 900, 5_000)
    for limit, word in (({"tokens_per_month": 900}, "900 tokens"), ({"cost_microusd_per_month": 5_000}, "US$ 0.01")):
        await owner.put("/v1/quotas", limit)
        before = datetime.now(UTC)
        reply = await owner.post("/v1/runs", question)
        after = datetime.now(UTC)
        assert reply.is_problem(429)
        assert word in reply.json["detail"]
        renewed = datetime.fromisoformat(f"{reply.json['detail'].rpartition(' room again from ')[2]}T00:00:00Z")
        assert (renewed.day, (renewed - timedelta(days=1)).month) in ((1, before.month), (1, after.month))
        wait = timedelta(seconds=int(reply.headers["Retry-After"]))
        assert renewed - after <= wait <= renewed - before + timedelta(seconds=1)
    await owner.put("/v1/quotas", {"tokens_per_month": 901})
    assert (await owner.post("/v1/runs", question)).status == 201
    await pool.execute("UPDATE runs SET created_at = created_at - interval '32 days' WHERE id = $1", UUID(run))
    await owner.put("/v1/quotas", {"tokens_per_month": 1})
    assert (await owner.post("/v1/runs", question)).status == 201, "last month is another one"
    seen = (await owner.get("/v1/quotas")).json
    assert seen["used"]["tokens"] == 0
    assert seen["used"]["runs"] == 4
    for bad in ({"concurrent_runs": -1}, {"tokens_per_month": 2**60}, {"key_id": run, "concurrent_runs": 1}, {"other": 1}):
        assert (await owner.put("/v1/quotas", bad)).status in (400, 404), bad


@pytest.mark.parametrize("limit", ["concurrent_runs", "tokens_per_month", "cost_microusd_per_month"])
async def test_a_quota_of_nothing_lets_no_run_begin(new_browser: NewBrowser, addresses: Iterator[str], limit: str) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    assert (await owner.put("/v1/quotas", {limit: 0})).status == 200
    assert (await owner.post("/v1/runs", {"question": "For free?"})).is_problem(429)


async def test_what_is_no_run_is_held_to_the_month_and_to_its_runs_budget(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool, run_log: RunLog
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    run, asked = await owner.ask("What did it cost?"), {"question": "And who paid?"}
    await write_end(pool, run_log, UUID(run))
    questions, rewrite = f"/v1/runs/{run}/questions", f"/v1/runs/{run}/sections/0/rewrite"
    assert (await owner.post("/v1/rubrics", asked)).json["usage"]["input_tokens"] == 9
    assert (await owner.get("/v1/quotas")).json["used"]["tokens"] == 1_009
    used_for = [(line["kind"], line["calls"], line["input_tokens"]) for line in (await owner.get("/v1/usage")).json["lines"]]
    assert used_for == [("draft", 1, 9)]
    await owner.put("/v1/quotas", {"concurrent_runs": 0, "tokens_per_month": 1_009})
    wanted = [(path, asked) for path in ("/v1/rubrics", "/v1/clarifications", questions)]
    for path, body in (*wanted, (rewrite, {})):
        refused = await owner.post(path, body)
        assert refused.is_problem(429), path
        assert "1,009 tokens" in refused.json["detail"], path
    await owner.put("/v1/quotas", {"tokens_per_month": 1_009})
    refused = await owner.post("/v1/runs", {**asked, "rubric": "auto", "beside": ["react"]})
    assert (refused.is_problem(429), "1,009 tokens" in refused.json["detail"]) == (True, True)
    await owner.put("/v1/quotas", {"concurrent_runs": 0, "tokens_per_month": 1_010})
    told = await owner.post(questions, asked)
    assert told.status == 202, "what is no run needs no place among the runs"
    edit = {"heading": "Revenue", "markdown": "In my words."}
    await owner.put(f"/v1/runs/{run}/budget", {"max_tokens": 1_000})
    for path, body in ((questions, asked), (rewrite, {})):
        refused = await owner.post(path, body)
        assert refused.is_problem(402), path
        assert "raise the budget" in refused.json["detail"]
    assert (await owner.put(f"/v1/runs/{run}/sections/0", edit)).status == 202, "one's own words cost nothing"
    await owner.put(f"/v1/runs/{run}/budget", {"max_tokens": 1_001})
    assert (await owner.post(questions, asked)).status == 202
    usage = Usage(input_tokens=50, output_tokens=1)
    await report_tasks.finish(pool, UUID(run), UUID(told.json["id"]), TaskStatus.DONE, usage=usage)
    await pool.execute("UPDATE runs SET created_at = created_at - interval '32 days' WHERE id = $1", UUID(run))
    seen = (await owner.get("/v1/quotas")).json["used"]["tokens"]
    assert seen == 60, "an old run is last month's; what is asked of it now is this month's"


async def test_a_key_pays_for_what_it_asks_of_others_runs(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool, run_log: RunLog, api: ApiClient
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    run, asked = await owner.ask("What did it cost?"), {"question": "And who paid?"}
    await write_end(pool, run_log, UUID(run))
    made = (await owner.post("/v1/keys", {"name": "k", "scopes": ["runs:read", "runs:write", "reports:write"]})).json
    await owner.put("/v1/quotas", {"tokens_per_month": 60, "key_id": made["info"]["id"]})
    key = {"Authorization": f"Bearer {made['key']}"}
    told = await api.post(f"/v1/runs/{run}/questions", asked, headers=key)
    assert told.status == 202, "the run is not the key's"
    usage = Usage(input_tokens=50, output_tokens=1)
    await report_tasks.finish(pool, UUID(run), UUID(told.json["id"]), TaskStatus.DONE, usage=usage)
    assert (await api.post("/v1/rubrics", asked, headers=key)).status == 201
    refused = await api.post("/v1/rubrics", asked, headers=key)
    assert refused.is_problem(429)
    assert "this key" in refused.json["detail"]
    assert (await owner.post("/v1/rubrics", asked)).status == 201


async def test_what_a_month_used_counts_once_for_the_organisation_and_for_the_key(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool, run_log: RunLog, api: ApiClient
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    scopes, asked = ["runs:read", "runs:write", "reports:write"], {"question": "And who paid?"}
    made = (await owner.post("/v1/keys", {"name": "k", "scopes": scopes})).json
    key, key_id = {"Authorization": f"Bearer {made['key']}"}, made["info"]["id"]
    run = (await api.post("/v1/runs", {"question": "What did it cost?"}, headers=key)).json["id"]
    await write_end(pool, run_log, UUID(run))
    told = await api.post(f"/v1/runs/{run}/questions", asked, headers=key)
    usage = Usage(input_tokens=50, output_tokens=1, cost_microusd=7)
    await report_tasks.finish(pool, UUID(run), UUID(told.json["id"]), TaskStatus.DONE, usage=usage)
    await used(pool, run, 951, 5_007)  # as workers bill: what was asked of the run is in its own ledger too
    assert (await api.post("/v1/rubrics", asked, headers=key)).json["usage"]["input_tokens"] == 9

    async def begins(**quota: object) -> int:
        assert (await owner.put("/v1/quotas", quota)).status == 200
        return (await api.post("/v1/runs", asked, headers=key)).status

    async def counted_once() -> None:
        consumed = (await owner.get("/v1/quotas")).json["used"]
        assert (consumed["tokens"], consumed["cost_microusd"]) == (1_060, 5_007)
        for whose in ({}, {"key_id": key_id}):
            assert await begins(**whose, tokens_per_month=1_060) == 429
            assert await begins(**whose, tokens_per_month=1_061, cost_microusd_per_month=5_008) == 201
            assert await begins(**whose, cost_microusd_per_month=5_007) == 429
            assert await begins(**whose) == 201

    await counted_once()
    assert (await owner.delete(f"/v1/runs/{run}")).status == 204
    await counted_once()


@pytest.fixture
async def small(api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[Browser]:
    policy = AccountPolicy(sign_up=False, most=Quota(requests_per_minute=5, concurrent_runs=1))
    async with (
        open_services(*api_urls, workflows, accounts_policy=policy) as services,
        serve_api(services) as client,
        open_browser(client.address) as browser,
    ):
        yield browser


async def test_the_deployments_limits_hold_whatever_an_organisation_sets(
    small: Browser, addresses: Iterator[str], new_browser: NewBrowser
) -> None:
    closed = {"organisation": "O", "email": next(addresses), "name": "N", "password": "a good long password"}
    assert (await small.post("/v1/sign-up", closed)).is_problem(403)
    elsewhere, email = await new_browser(), next(addresses)
    await elsewhere.sign_up(email)
    assert (await small.sign_in(email)).status == 200
    assert (await small.put("/v1/quotas", {"concurrent_runs": 100})).json["organisation"]["concurrent_runs"] == 1
    assert (await small.post("/v1/runs", {"question": "One?"})).status == 201
    assert (await small.post("/v1/runs", {"question": "Two?"})).is_problem(429)
    assert 429 in [(await small.get("/v1/runs")).status for _ in range(20)]


async def test_usage_by_model_tool_and_run(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool, run_log: RunLog
) -> None:
    owner, stranger = await new_browser(), await new_browser()
    await owner.sign_up(next(addresses))
    await stranger.sign_up(next(addresses))
    run = await owner.ask("What does it cost?")
    call = {"step": "act", "model": "m-1", "input_tokens": 90, "output_tokens": 10, "cost_microusd": 7, "replayed": False}
    for model in ("m-1", "m-1", "m-2"):
        await run_log.append_event(UUID(run), EventType.MODEL_CALL, "plan", call | {"model": model})
    # What a model wrote may have a NUL, which PostgreSQL does not read.
    await run_log.append_event(UUID(run), EventType.TOOL_CALL, "search/a", {"tool": "search", "query": "q\0 \\u0000"})
    await used(pool, run, 300, 21)
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    usage = (await owner.get("/v1/usage")).json
    assert usage["total"] == {"runs": 1, "tokens": 300, "cost_microusd": 21}
    lines = [(line["kind"], line["name"], line["calls"], line["input_tokens"], line["cost_microusd"]) for line in usage["lines"]]
    assert lines == [("model", "m-1", 2, 180, 14), ("model", "m-2", 1, 90, 7), ("tool", "search", 1, 0, 0)]
    assert [(line["run_id"], line["question"]) for line in usage["runs"]] == [(run, "What does it cost?")]
    assert (await stranger.get("/v1/usage")).json["total"]["runs"] == 0
    assert usage["since"] == datetime.now(UTC).date().replace(day=1).isoformat(), "this month, from its first day"
    assert (await owner.get("/v1/usage?until=2020-01-31")).json["lines"] == []
    for bad in ("since=2026-02-01&until=2026-01-01", "since=2020-01-01&until=2026-01-01", "since=soon"):
        assert (await owner.get(f"/v1/usage?{bad}")).is_problem(400), bad


async def test_the_audit_log_is_read_in_pages_by_those_who_may(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    owner, member = await new_browser(), await new_browser()
    await owner.sign_up(next(addresses))
    await member.accept(await owner.invite(next(addresses), "member"))
    assert (await member.get("/v1/audit")).is_problem(403)
    first = (await owner.get("/v1/audit?limit=3")).json
    second = (await owner.get(f"/v1/audit?limit=3&before={first['next']}")).json
    actions = [item["action"] for item in first["items"] + second["items"]]
    assert actions == ["signed_in", "member_joined", "member_invited", "signed_in", "signed_up"]
    assert second["next"] is None
    emails = [item["email"] for item in first["items"] + second["items"]]
    assert "@" in emails[0]
    assert emails == [emails[0]] * 2 + [emails[2]] * 3
    me = (await owner.get("/v1/me")).json["user_id"]
    for query, expected in (
        ("action=signed_in", ["signed_in", "signed_in"]),
        (f"user_id={me}", ["member_invited", "signed_in", "signed_up"]),
        (f"action=signed_in&user_id={me}", ["signed_in"]),
        ("until=2020-01-01", []),
        ("since=2020-01-01&action=signed_up", ["signed_up"]),
    ):
        found = (await owner.get(f"/v1/audit?{query}")).json["items"]
        assert [item["action"] for item in found] == expected, query
    for bad in ("since=2026-02-01&until=2026-01-01", "action=danced", "user_id=me", "since=soon"):
        for path in ("audit", "audit/export"):
            assert (await owner.get(f"/v1/{path}?{bad}")).is_problem(400), bad


async def test_the_audit_log_is_taken_along_and_computes_nothing(new_browser: NewBrowser, addresses: Iterator[str]) -> None:
    owner, member = await new_browser(), await new_browser()
    await owner.sign_up(next(addresses))
    await member.accept(await owner.invite(next(addresses), "member"))
    assert (await member.get("/v1/audit/export")).is_problem(403)
    hook = {"url": "https://hooks.example.org/secret-path", "events": ["run.completed"]}
    made = (await owner.post("/v1/webhooks", hook)).json["webhook"]["id"]
    await owner.send("PATCH", f"/v1/webhooks/{made}", json={"enabled": False})
    reply = await owner.get("/v1/audit/export?until=2999-01-01")
    assert reply.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in reply.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(reply.body.decode("utf-8-sig"))))
    told = [row["action"] for row in rows]
    assert told[:3] == ["webhook_changed", "webhook_made", "signed_in"]
    assert json.loads(rows[0]["detail"]) == {"host": "hooks.example.org", "enabled": "false"}
    hostile = {"subject": "=cmd|' /C calc'!A1", "address": " @SUM(1)", "detail": {"=a": '"x,y'}}
    entry = AuditEntry.model_validate((await owner.get("/v1/audit")).json["items"][0]).model_copy(update=hostile)
    [row] = csv.DictReader(io.StringIO(as_csv([entry]).decode("utf-8-sig")))
    assert (row["subject"], row["address"]) == ("'=cmd|' /C calc'!A1", "' @SUM(1)")
    assert json.loads(row["detail"]) == hostile["detail"]
    assert (await owner.get("/v1/audit?action=log_exported")).json["items"][0]["detail"] == {"until": "2999-01-01"}
