"""A clock that was set back: what was written before lies in the future, and keeps nobody waiting for as long."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest

from app.domain.budget import Budget
from app.domain.contract import Halt
from app.domain.run import RunStatus
from app.http.services import open_services
from app.outgoing.addresses import parse_networks
from app.outside_calls.storage import OutsideCallStore
from app.retention.service.retention import delete_past
from app.retention.storage import look_at_clock
from app.runs.storage import runs, steering
from app.runs.storage.run_log import NOTHING, RunLog
from app.webhooks.service.delivery import DeliveryPolicy
from tests.app.conftest import NewBrowser, NewRun
from tests.app.finished_run import write_begin, write_end
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api
from tests.app.webhook_receiver import serve_receiver
from tests.support.stage_opening import open_stage

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
STEPS = pytest.mark.parametrize("step", [timedelta(hours=3), timedelta(days=40)], ids=["3 hours", "40 days"])
SIGNING_IN = "UPDATE rate_buckets SET full_at = full_at + $1::interval WHERE subject LIKE 'attempt%'"


@pytest.fixture
async def telling(api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[ApiClient]:
    """An API whose webhooks may lead to this machine."""
    policy = DeliveryPolicy(parse_networks("127.0.0.0/8"), (timedelta(milliseconds=50),) * 3)
    async with open_services(*api_urls, workflows, webhook_policy=policy) as services, serve_api(services) as client:
        yield client


@STEPS
async def test_who_tries_to_sign_in_waits_no_longer_than_a_bucket_takes_to_fill(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool, step: timedelta
) -> None:
    browser, email = await new_browser(), next(addresses)
    await browser.sign_up(email)
    assert (await browser.sign_in(email)).status == 200
    await pool.execute(SIGNING_IN, step)
    for _ in range(3):  # one bucket after the other: the address's, the account's from there, the account's
        refused = await browser.sign_in(email)
        assert refused.is_problem(429)
        assert 0 < int(refused.headers["Retry-After"]) <= 12
        await pool.execute(SIGNING_IN, -timedelta(seconds=12))  # as twelve seconds do
    assert (await browser.sign_in(email)).status == 200


@STEPS
async def test_a_key_with_a_pace_is_let_in_again_within_a_minute(
    new_browser: NewBrowser, addresses: Iterator[str], api: ApiClient, pool: asyncpg.Pool, step: timedelta
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    made = (await owner.post("/v1/keys", {"name": "k", "scopes": ["runs:read"]})).json
    headers = {"Authorization": f"Bearer {made['key']}"}
    await owner.put("/v1/quotas", {"requests_per_minute": 2, "key_id": made["info"]["id"]})
    assert (await api.get("/v1/runs", headers=headers)).status == 200
    await pool.execute("UPDATE rate_buckets SET full_at = full_at + $1::interval", step)
    refused = await api.get("/v1/runs", headers=headers)
    assert refused.is_problem(429)
    assert 0 < int(refused.headers["Retry-After"]) <= 30
    await pool.execute("UPDATE rate_buckets SET full_at = full_at - $1::interval", MINUTE / 2)
    assert (await api.get("/v1/runs", headers=headers)).status == 200


@STEPS
async def test_a_provider_is_asked_again(pool: asyncpg.Pool, step: timedelta) -> None:
    store = OutsideCallStore(pool)
    await store.hold("provider", MINUTE)
    assert await store.take("provider", MINUTE, 3, timedelta(0)) is None
    await pool.execute("UPDATE outside_limits SET next_at = next_at + $1::interval", step)
    waits = [await store.take("provider", HOUR, 2, 5 * MINUTE) for _ in range(3)]
    assert waits == [timedelta(0), timedelta(0), None]


@STEPS
async def test_a_call_whose_worker_died_is_made_and_a_result_from_the_future_is_not_fresh(
    pool: asyncpg.Pool, step: timedelta
) -> None:
    store = OutsideCallStore(pool)
    await store.begin("died", HOUR, MINUTE)
    await store.finish("kept", b"before", {})
    later = "UPDATE outside_results SET claimed_until = claimed_until + $1::interval, fetched_at = fetched_at + $1::interval"
    await pool.execute(later, step)
    assert await store.begin("died", HOUR, MINUTE) == (None, True)
    assert await store.begin("died", HOUR, MINUTE) == (None, False)
    assert await store.begin("kept", HOUR, MINUTE) == (None, True)
    await store.finish("kept", b"after", {})
    kept, _ = await store.begin("kept", HOUR, MINUTE)
    assert kept is not None
    assert kept.body == b"after"


@pytest.mark.parametrize("attempts", [0, 1])
async def test_a_message_that_waits_is_delivered(telling: ApiClient, pool: asyncpg.Pool, attempts: int) -> None:
    later = """
        INSERT INTO webhook_deliveries (organisation_id, webhook_id, type, body, attempts, next_attempt_at)
        SELECT organisation_id, id, 'run.running', '{}', $2, now() + $3::interval FROM webhooks WHERE id = $1"""
    step = timedelta(days=40) if attempts else timedelta(hours=3)
    async with serve_receiver() as receiver:
        made = (await telling.post("/v1/webhooks", {"url": f"{receiver.url}/hook", "events": ["run.running"]})).json["webhook"]
        await pool.execute(later, UUID(made["id"]), attempts, step)
        await telling.ask()  # which wakes the deliverer
        assert len(await receiver.wait_for(2)) == 2


async def test_an_endpoint_is_not_turned_off_by_a_clock_that_was_set_forward(telling: ApiClient, pool: asyncpg.Pool) -> None:
    async with serve_receiver() as receiver:
        made = (await telling.post("/v1/webhooks", {"url": f"{receiver.url}/hook", "events": ["run.running"]})).json["webhook"]
        await pool.execute("UPDATE webhooks SET failing_since = now() - interval '40 days' WHERE id = $1", UUID(made["id"]))
        receiver.statuses = [500]
        await telling.ask()
        assert len(await receiver.wait_for(2)) == 2, "the second attempt arrives"
        assert (await telling.get(f"/v1/webhooks/{made['id']}")).json["enabled"] is True


@STEPS
async def test_a_request_whose_process_died_can_be_repeated(
    api: ApiClient, workflows: InMemoryRuns, pool: asyncpg.Pool, step: timedelta
) -> None:
    key = {"Idempotency-Key": f"clock-{step.days}"}
    claimed = await api.post("/v1/runs", {"question": "Why tariffs?"}, headers=key)
    while (await api.post("/v1/runs", {"question": "Why tariffs?"}, headers=key)).status == 409:
        pass  # the answer is sent before it is kept
    died = "UPDATE idempotency_keys SET state = 'working', claimed_at = claimed_at + $2::interval WHERE key = $1"
    await pool.execute(died, key["Idempotency-Key"], step)
    again = await api.post("/v1/runs", {"question": "Why tariffs?"}, headers=key)
    assert (claimed.status, again.status) == (201, 201)


@STEPS
@pytest.mark.parametrize("direction", [1, -1], ids=["forward", "back"])
async def test_minutes_are_counted_by_signs_of_life(
    run_log: RunLog, new_run: NewRun, pool: asyncpg.Pool, step: timedelta, direction: int
) -> None:
    run = await new_run(Budget(max_seconds=600))
    await run_log.set_status(run, RunStatus.RUNNING)
    passes = "UPDATE ledgers SET running_since = running_since - $2::interval WHERE run_id = $1"
    await pool.execute(passes, run, direction * step)
    assert await steering.find_interruption(pool, run) is Halt.NONE
    assert (await open_stage(run_log, run, "plan", NOTHING)).granted
    minutes = 0
    while await steering.find_interruption(pool, run) is Halt.NONE:
        await pool.execute(passes, run, MINUTE)
        minutes += 1
    assert minutes in (9, 10)  # of ten; a clock that was set forward counts as one at most
    assert not (await open_stage(run_log, run, "search/s1", NOTHING)).granted


async def test_what_was_asked_is_started_though_it_lies_in_the_future(api: ApiClient, pool: asyncpg.Pool) -> None:
    run = UUID(await api.ask())
    await pool.execute("UPDATE runs SET dispatched_at = NULL, created_at = now() + interval '40 days' WHERE id = $1", run)
    assert run in await runs.list_undispatched(pool, MINUTE, 100)
    await pool.execute("UPDATE runs SET created_at = now() WHERE id = $1", run)
    assert run not in await runs.list_undispatched(pool, MINUTE, 100), "its API is starting it"


async def test_a_clock_that_was_set_forward_deletes_nothing_for_a_day(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool
) -> None:
    owner = await new_browser()
    await owner.sign_up(next(addresses))
    run = UUID(await owner.ask("What is kept?"))
    await write_begin(RunLog(pool), run)
    await write_end(pool, RunLog(pool), run)
    assert (await owner.put("/v1/retention", {"runs_days": 30})).status == 200
    passes = "UPDATE clock_looks SET at = at - $1::interval"
    ages = "UPDATE runs SET finished_at = finished_at - $2::interval WHERE id = $1"
    await pool.execute("DELETE FROM clock_looks")
    await look_at_clock(pool)
    for table, step in ((passes, [timedelta(days=40)]), (ages, [run, timedelta(days=40)])):
        await pool.execute(table, *step)
    for _ in range(23):  # hours
        await look_at_clock(pool)
        assert await delete_past(pool) == {}
        await pool.execute(passes, HOUR)
    await look_at_clock(pool)
    await pool.execute("UPDATE clock_looks SET at = at + interval '40 days'")  # and back
    await pool.execute(ages, run, -timedelta(days=40))
    await look_at_clock(pool)
    assert await delete_past(pool) == {}
    assert await pool.fetchval("SELECT max(at) <= now() FROM clock_looks")
    assert (await owner.get(f"/v1/runs/{run}")).status == 200
    for days in (40, 1):  # now it is true
        await pool.execute(ages, run, timedelta(days=days))
        await pool.execute(passes, timedelta(days=days))
        await look_at_clock(pool)
        await delete_past(pool)
    assert (await owner.get(f"/v1/runs/{run}")).is_problem(404)
