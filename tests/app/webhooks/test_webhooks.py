"""Webhooks, from an endpoint's registration to what arrives there, through a receiver of every kind."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from ipaddress import ip_address
from typing import Any
from uuid import UUID

import asyncpg
import orjson
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from app.domain.run import RunStatus
from app.http.services import open_services
from app.outgoing.addresses import IPAddress, parse_networks
from app.runs.storage.run_log import RunLog
from app.webhooks.service.delivery import DeliveryPolicy
from infra.local.ports import find_free_port
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api
from tests.app.webhook_receiver import WebhookReceiver, serve_receiver

LOOPBACK = parse_networks("127.0.0.0/8")
SOON = (timedelta(milliseconds=50),) * 3
# How long an endpoint may take. A message that is sent for longer than its lease would be sent twice.
PATIENT, HASTY = timedelta(seconds=45), timedelta(seconds=2)


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with serve_receiver() as started:
        yield started


@pytest.fixture
async def telling(api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[ApiClient]:
    async with telling_within(PATIENT, api_urls, workflows) as client:
        yield client


@contextlib.asynccontextmanager
async def telling_within(limit: timedelta, api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[ApiClient]:
    """An API whose webhooks may lead to this machine, and that loses no time between attempts."""
    policy = DeliveryPolicy(LOOPBACK, SOON, limit)
    async with open_services(*api_urls, workflows, webhook_policy=policy) as services, serve_api(services) as client:
        yield client


async def hook(api: ApiClient, url: str, **options: Any) -> dict[str, Any]:
    reply = await api.post("/v1/webhooks", {"url": url, **options})
    assert reply.status == 201, reply.body
    found: dict[str, Any] = reply.json["webhook"] | {"secret": reply.json["secret"]}
    return found


async def deliveries(api: ApiClient, webhook: str, state: str = "") -> list[dict[str, Any]]:
    reply = await api.get(f"/v1/webhooks/{webhook}/deliveries" + (f"?state={state}" if state else ""))
    return list(reply.json["items"])


async def until_state(api: ApiClient, webhook: str, state: str) -> dict[str, Any]:
    while not (found := await deliveries(api, webhook, state)):
        await asyncio.sleep(0.05)
    return found[0]


async def test_what_happens_to_runs_is_told_signed_and_filtered(
    telling: ApiClient, receiver: WebhookReceiver, run_log: RunLog
) -> None:
    everything = await hook(telling, f"{receiver.url}/hook")
    ends = await hook(telling, f"{receiver.url}/ends", events=["run.completed"], description="only ends")
    run = await telling.ask()
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    got = await receiver.wait_for(2)
    told = {orjson.loads(request.body)["type"]: request for request in got}
    assert set(told) == {"run.running", "run.completed"}
    body = orjson.loads(told["run.completed"].body)
    assert body["data"] == {"run_id": run, "status": "completed", "detail": ""}
    assert Webhook(everything["secret"]).verify(told["run.completed"].body, told["run.completed"].headers) == body
    with pytest.raises(WebhookVerificationError):
        Webhook(ends["secret"]).verify(told["run.completed"].body, told["run.completed"].headers)
    [only] = await receiver.wait_for(1, "/ends")
    assert orjson.loads(only.body)["type"] == "run.completed"
    done = await until_state(telling, ends["id"], "delivered")
    assert (done["attempts"], done["status"], done["type"], done["error"]) == (1, 204, "run.completed", "")
    assert only.headers["webhook-id"] == f"msg_{UUID(done['id']).hex}"
    listed = (await telling.get("/v1/webhooks")).json["items"]
    assert "secret" not in listed[0]
    assert {item["description"] for item in listed} >= {"only ends"}


async def test_an_endpoint_that_is_down_is_tried_again_under_the_same_name(
    telling: ApiClient, receiver: WebhookReceiver, run_log: RunLog
) -> None:
    receiver.statuses = [500, 503]
    made = await hook(telling, f"{receiver.url}/hook", events=["run.running"])
    await telling.ask()
    attempts = await receiver.wait_for(3)
    assert len({request.headers["webhook-id"] for request in attempts}) == 1
    done = await until_state(telling, made["id"], "delivered")
    assert done["attempts"] == 3
    receiver.statuses = [500] * 4
    await telling.ask()
    failed = await until_state(telling, made["id"], "failed")
    assert (failed["attempts"], failed["status"], failed["error"]) == (4, 500, "the endpoint answered 500")
    assert (await telling.get(f"/v1/webhooks/{made['id']}")).json["failing_since"] is not None
    replayed = await telling.post(f"/v1/webhooks/deliveries/{failed['id']}/replay")
    assert (replayed.status, replayed.json["state"]) == (202, "pending")
    again = (await receiver.wait_for(8))[-1]
    assert again.headers["webhook-id"] == f"msg_{UUID(failed['id']).hex}"
    while (await telling.get(f"/v1/webhooks/{made['id']}")).json["failing_since"] is not None:
        await asyncio.sleep(0.05)


async def until_tried(api: ApiClient, webhook: str) -> str:
    """What the first failed attempt of an endpoint's deliveries says."""
    while not (errors := [item["error"] for item in await deliveries(api, webhook) if item["error"]]):
        await asyncio.sleep(0.05)
    return str(errors[0])


@pytest.mark.parametrize(
    ("path", "error"),
    [("/garbage", "no answer: "), ("/redirect", "redirects are not followed"), ("/endless", "500")],
)
async def test_hostile_endpoints_fail_and_hold_up_nobody(
    telling: ApiClient, receiver: WebhookReceiver, path: str, error: str
) -> None:
    receiver.redirect_to = f"{receiver.url}/stolen"
    bad = await hook(telling, receiver.url + path, events=["run.running"])
    good = await hook(telling, f"{receiver.url}/hook", events=["run.running"])
    for _ in range(6):
        await telling.ask()
    await receiver.wait_for(6)
    assert error in await until_tried(telling, bad["id"])
    assert not [request for request in receiver.requests if request.path == "/stolen"]
    for made in (bad, good):
        assert (await telling.send("DELETE", f"/v1/webhooks/{made['id']}")).status == 204


async def test_what_keeps_a_connection_from_being_made_is_said(telling: ApiClient, receiver: WebhookReceiver) -> None:
    nobody = await hook(telling, f"http://127.0.0.1:{find_free_port()}", events=["run.running"])
    without_certificate = await hook(telling, receiver.url.replace("http:", "https:"), events=["run.running"])
    await telling.ask()
    assert await until_tried(telling, nobody["id"]) == "no answer: no connection could be made"
    assert "look at the certificate" in await until_tried(telling, without_certificate["id"])


async def test_an_endpoint_that_never_answers_is_given_up(
    api_urls: tuple[str, str], workflows: InMemoryRuns, receiver: WebhookReceiver
) -> None:
    async with telling_within(HASTY, api_urls, workflows) as api:
        made = await hook(api, f"{receiver.url}/slow", events=["webhook.test"])
        await api.post(f"/v1/webhooks/{made['id']}/test")
        assert "no answer within 2 s" in await until_tried(api, made["id"])


async def test_an_endpoint_that_never_answers_holds_up_nobody(telling: ApiClient, receiver: WebhookReceiver) -> None:
    slow = await hook(telling, f"{receiver.url}/slow", events=["run.running"])
    good = await hook(telling, f"{receiver.url}/hook", events=["run.running"])
    for _ in range(6):
        await telling.ask()
    await receiver.wait_for(6)
    assert [item["error"] for item in await deliveries(telling, slow["id"])] == [""] * 6, "the others waited for none to end"
    for made in (slow, good):
        assert (await telling.send("DELETE", f"/v1/webhooks/{made['id']}")).status == 204


async def test_an_endpoint_that_is_gone_or_has_failed_for_days_is_turned_off(
    telling: ApiClient, receiver: WebhookReceiver, pool: asyncpg.Pool
) -> None:
    made = await hook(telling, f"{receiver.url}/hook", events=["run.running", "webhook.test"])
    receiver.statuses = [410]
    await telling.ask()
    await until_state(telling, made["id"], "failed")
    off = (await telling.get(f"/v1/webhooks/{made['id']}")).json
    assert (off["enabled"], "410" in off["disabled_reason"]) == (False, True)
    assert (await telling.post(f"/v1/webhooks/{made['id']}/test")).is_problem(409)
    on = await telling.send("PATCH", f"/v1/webhooks/{made['id']}", json={"enabled": True})
    assert (on.json["enabled"], on.json["disabled_reason"], on.json["failing_since"]) == (True, "", None)
    await pool.execute("UPDATE webhooks SET failing_since = now() - interval '6 days' WHERE id = $1", UUID(made["id"]))
    receiver.statuses = [500] * 4
    assert (await telling.post(f"/v1/webhooks/{made['id']}/test")).status == 202
    while (off := (await telling.get(f"/v1/webhooks/{made['id']}")).json)["enabled"]:
        await asyncio.sleep(0.05)
    assert "for days" in off["disabled_reason"]


async def test_turned_off_an_endpoint_hears_nothing_more(telling: ApiClient, receiver: WebhookReceiver) -> None:
    made = await hook(telling, f"{receiver.url}/slow", events=["webhook.test"])
    another = await hook(telling, f"{receiver.url}/hook", events=["webhook.test"])
    await telling.post(f"/v1/webhooks/{made['id']}/test")
    await receiver.wait_for(1, "/slow")
    assert (await telling.send("PATCH", f"/v1/webhooks/{made['id']}", json={"enabled": False})).json["enabled"] is False
    [given_up] = await deliveries(telling, made["id"], "failed")
    assert given_up["error"] == "the webhook was turned off"
    receiver.statuses = [500]
    receiver.let_go.set()
    for heard in (1, 2):  # two looks at what is due
        await telling.post(f"/v1/webhooks/{another['id']}/test")
        await receiver.wait_for(heard)
    assert len([request for request in receiver.requests if request.path == "/slow"]) == 1
    assert (await deliveries(telling, made["id"], "failed"))[0]["next_attempt_at"] is None


async def test_for_a_day_after_a_rotation_both_secrets_sign(
    telling: ApiClient, receiver: WebhookReceiver, pool: asyncpg.Pool
) -> None:
    made = await hook(telling, f"{receiver.url}/hook", events=["webhook.test"])
    rotated = await telling.post(f"/v1/webhooks/{made['id']}/secret")
    new = rotated.json["secret"]
    assert new not in ("", made["secret"])
    await telling.post(f"/v1/webhooks/{made['id']}/test")
    [sent] = await receiver.wait_for(1)
    for secret in (made["secret"], new):
        assert Webhook(secret).verify(sent.body, sent.headers)["type"] == "webhook.test"
    await pool.execute("UPDATE webhooks SET previous_until = now() - interval '1 second' WHERE id = $1", UUID(made["id"]))
    await telling.post(f"/v1/webhooks/{made['id']}/test")
    later = (await receiver.wait_for(2))[-1]
    assert Webhook(new).verify(later.body, later.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(made["secret"]).verify(later.body, later.headers)


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1/x", "https://127.0.0.1/x", "https://[::1]/x", "https://10.0.0.1/x", "https://169.254.169.254/latest"),
        *("https://localhost/x", "https://2130706433/x", "https://db.internal/x", "http://example.com/x", "ftp://example.com/x"),
        *(
            "https://user:pw@example.com/x",
            "https://example.com:22/x",
            "https://[::ffff:127.0.0.1]/x",
            "nonsense",
            "https://a b.c/",
        ),
    ],
)
async def test_an_address_that_leads_inside_is_refused(api: ApiClient, url: str) -> None:
    reply = await api.post("/v1/webhooks", {"url": url})
    assert reply.is_problem(400), reply.body
    assert "refused" in reply.json["detail"]


async def test_a_public_name_that_leads_inside_is_not_connected_to(
    api_urls: tuple[str, str], workflows: InMemoryRuns, receiver: WebhookReceiver
) -> None:
    """The name is fine when it is registered, and points to this machine when it is asked for."""

    async def rebound(_: str) -> list[IPAddress]:
        return [ip_address("127.0.0.1")]

    policy = DeliveryPolicy(pauses=SOON, lookup=rebound)
    async with open_services(*api_urls, workflows, webhook_policy=policy) as services, serve_api(services) as api:
        made = await hook(api, f"https://hooks.example.com:8443/{receiver.url[-5:]}")
        assert (await api.post(f"/v1/webhooks/{made['id']}/test")).status == 202
        failed = await until_state(api, made["id"], "failed")
    assert "loopback" in failed["error"]
    assert receiver.requests == []
