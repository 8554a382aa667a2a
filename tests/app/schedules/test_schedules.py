"""Schedules over the API: made, changed, paused and deleted, with the workflow service there or away, for members only."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.accounts.nouns.access import LOCAL_ORGANISATION, Role
from app.accounts.service.bootstrap import LOCAL_EMAIL
from app.accounts.service.policy import AccountPolicy
from app.accounts.storage import addresses
from app.accounts.storage import organisations as accounts
from app.domain.errors import InvalidInput, Unavailable
from app.domain.schedules import Timing
from app.http import background
from app.http.services import Services, open_services
from app.outgoing.mail import Mailbox
from app.retention.service.retention import delete_past
from app.runs.storage.run_log import RunLog
from app.setting_values import MailSecurity
from tests.app.accounts.test_personal import traces
from tests.app.browser import PASSWORD
from tests.app.conftest import NewBrowser
from tests.app.finished_run import write_begin, write_end
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api

WEEKLY = {"cron": "0 8 * * mon", "time_zone": "Europe/Berlin"}


@dataclass
class Clock:
    """Holds timings in memory.

    `away` plays an outage, `broken` an error that nobody expects, once; it knows nothing of the time zones `strange`.
    """

    away: bool = False
    broken: bool = False
    strange: str = ""
    held: dict[UUID, tuple[Timing, bool]] = field(default_factory=dict)
    triggered: list[UUID] = field(default_factory=list)

    async def put(self, schedule: UUID, timing: Timing, paused: bool) -> None:
        self._check()
        if timing.time_zone == self.strange:
            raise InvalidInput("no such time zone")
        self.held[schedule] = timing, paused

    async def trigger(self, schedule: UUID) -> None:
        self._check()
        self.triggered.append(schedule)

    async def remove(self, schedule: UUID) -> None:
        self._check()
        self.held.pop(schedule, None)

    def _check(self) -> None:
        if self.away:
            raise Unavailable("away")
        if self.broken:
            self.broken = False
            raise RuntimeError("broken")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def services(api_urls: tuple[str, str], workflows: InMemoryRuns, clock: Clock) -> AsyncIterator[Services]:
    mailbox = Mailbox("mail.example", 587, "Rubrica <r@example.org>", "https://page.example", MailSecurity.NONE)
    policy = AccountPolicy(mailbox=mailbox)
    async with open_services(*api_urls, workflows, timing=clock, accounts_policy=policy) as opened:
        yield opened


@pytest.fixture
async def api(services: Services, pool: asyncpg.Pool) -> AsyncIterator[ApiClient]:
    async with serve_api(services) as client:
        yield client


async def until(check: Any) -> None:
    while not check():
        await asyncio.sleep(0.02)


async def test_a_schedule_is_made_changed_triggered_and_deleted(api: ApiClient, clock: Clock) -> None:
    new = {"name": "Harbour", "run": {"question": "What does the harbour cost?", "effort": "quick"}, "timing": WEEKLY}
    made = await api.post("/v1/schedules", new)
    assert (made.status, made.headers["Location"]) == (201, f"/v1/schedules/{made.json['id']}")
    schedule = UUID(made.json["id"])
    assert made.json["query"]["question"] == "What does the harbour cost?"
    assert made.json["next_at"] is not None
    await until(lambda: schedule in clock.held)
    assert clock.held[schedule][0].cron == "0 8 * * mon"

    changed = await api.send("PATCH", f"/v1/schedules/{schedule}", json={"paused": True, "timing": {"cron": "30 6 1 * *"}})
    assert (changed.json["paused"], changed.json["next_at"], changed.json["name"]) == (True, None, "Harbour")
    await until(lambda: clock.held[schedule] == (Timing(cron="30 6 1 * *"), True))
    assert (await api.post(f"/v1/schedules/{schedule}/trigger")).status == 202
    assert clock.triggered == [schedule]
    for part in ("changes", "deliveries"):
        assert (await api.get(f"/v1/schedules/{schedule}/{part}")).json == {"items": [], "next": None}

    clock.away = True
    assert (await api.post(f"/v1/schedules/{schedule}/trigger")).is_problem(503)
    assert (await api.send("DELETE", f"/v1/schedules/{schedule}")).status == 204
    assert (await api.get(f"/v1/schedules/{schedule}")).is_problem(404)
    assert schedule in clock.held
    clock.away = False  # what could not be told is told later
    await until(lambda: schedule not in clock.held)


async def test_a_schedule_of_a_run_takes_over_no_yes_to_tools_that_write(api: ApiClient, run_log: RunLog) -> None:
    agreed = {"tools_that_write": ["shop.order"]}
    run = await api.ask("What does the harbour cost?", **agreed, published_from="1900-01-01")
    await write_begin(run_log, UUID(run))
    await write_end(run_log.executor, run_log, UUID(run))
    taken = (await api.post("/v1/schedules", {"name": "Of the run", "from_run": run, "timing": WEEKLY})).json["query"]["scope"]
    assert (taken["tools_that_write"], taken["published_from"]) == ([], "1900-01-01")
    new = {"name": "Its own", "run": {"question": "What does the harbour cost?", **agreed}, "timing": WEEKLY}
    assert (await api.post("/v1/schedules", new)).json["query"]["scope"]["tools_that_write"] == ["shop.order"]


async def test_schedules_end_with_their_organisations_last_member(
    new_browser: NewBrowser, clock: Clock, pool: asyncpg.Pool
) -> None:
    browser = await new_browser()
    me = await browser.sign_up(f"{uuid4()}@example.org", "Goes with its schedules")
    new = {"name": "Goes, too", "run": {"question": "What does the harbour cost?"}, "timing": WEEKLY}
    schedule = UUID((await browser.post("/v1/schedules", new)).json["id"])
    await until(lambda: schedule in clock.held)
    clock.away = True
    assert (await browser.post("/v1/me/erasure", {"password": PASSWORD})).status == 204
    assert await traces(pool, me["user_id"], "Goes with its schedules", "Goes, too") == {}
    await delete_past(pool)
    assert schedule in clock.held
    clock.away = False
    await until(lambda: schedule not in clock.held)
    while "schedules" in await traces(pool, str(schedule)):
        await asyncio.sleep(0.02)
    await delete_past(pool)
    assert await traces(pool, me["organisation"]["id"]) == {}


async def test_an_unexpected_error_ends_the_work_in_the_background_only_for_a_while(
    api: ApiClient, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background, "AFTER_ERROR", timedelta(seconds=0.1))
    clock.broken = True
    new = {"name": "After an error", "run": {"question": "What does the harbour cost?"}, "timing": WEEKLY}
    schedule = UUID((await api.post("/v1/schedules", new)).json["id"])
    await until(lambda: schedule in clock.held)
    assert "RuntimeError: broken" in caplog.text


async def test_a_timing_that_the_workflow_service_refuses_is_paused_and_holds_up_no_other(
    api: ApiClient, clock: Clock, pool: asyncpg.Pool
) -> None:
    async def make(zone: str) -> str:
        new = {"name": zone, "run": {"question": "Why?"}, "timing": {"cron": "0 8 * * mon", "time_zone": zone}}
        return str((await api.post("/v1/schedules", new)).json["id"])

    async def unsynced(schedule: str) -> bool:
        return bool(await pool.fetchval("SELECT synced < revision FROM schedules WHERE id = $1", UUID(schedule)))

    refused = await make("Asia/Shanghai")
    await until(lambda: UUID(refused) in clock.held)
    clock.strange = "Asia/Tokyo"
    new = {"timing": {"cron": "0 8 * * mon", "time_zone": clock.strange}}
    assert (await api.send("PATCH", f"/v1/schedules/{refused}", json=new)).status == 200
    others = [await make("Europe/Berlin") for _ in range(5)]
    await until(lambda: set(map(UUID, others)) <= clock.held.keys())
    while await unsynced(refused):
        await asyncio.sleep(0.02)
    told = (await api.get(f"/v1/schedules/{refused}")).json
    assert (told["paused"], told["detail"], told["next_at"]) == (True, "no such time zone", None)
    assert UUID(refused) not in clock.held, "its older timing does not go on"
    assert (await api.post(f"/v1/schedules/{refused}/trigger")).is_problem(400)
    again = await api.send("PATCH", f"/v1/schedules/{refused}", json={"paused": False, "timing": WEEKLY})
    assert (again.json["paused"], again.json["detail"]) == (False, "")
    await until(lambda: UUID(refused) in clock.held)


async def test_schedules_are_listed_page_by_page(api: ApiClient) -> None:
    for n in range(3):
        await api.post("/v1/schedules", {"name": f"List {n}", "run": {"question": "Why?"}, "timing": WEEKLY})
    first = (await api.get("/v1/schedules?limit=2")).json
    rest = (await api.get(f"/v1/schedules?limit=2&before={first['next']}")).json
    names = [item["name"] for item in (*first["items"], *rest["items"])]
    assert [name for name in names if name.startswith("List")] == ["List 2", "List 1", "List 0"]


async def test_messages_made_at_one_moment_are_all_listed(api: ApiClient, pool: asyncpg.Pool) -> None:
    new = {"name": "Told to three", "run": {"question": "Why?"}, "timing": WEEKLY}
    schedule = (await api.post("/v1/schedules", new)).json["id"]
    await pool.execute(
        """INSERT INTO deliveries (id, schedule_id, organisation_id, due_at, address)
        SELECT gen_random_uuid(), s.id, s.organisation_id, now(), 'p' || n || '@example.org'
        FROM schedules s, generate_series(1, 3) AS n WHERE s.id = $1::text::uuid""",
        schedule,
    )
    seen, path = [], f"/v1/schedules/{schedule}/deliveries?limit=2"
    page = (await api.get(path)).json
    seen += page["items"]
    page = (await api.get(f"{path}&before={page['next']}")).json
    seen += page["items"]
    assert (sorted(item["address"] for item in seen), page["next"]) == ([f"p{n}@example.org" for n in (1, 2, 3)], None)


async def test_mail_is_refused_when_it_is_chosen_where_none_can_be_sent(
    api_urls: tuple[str, str], workflows: InMemoryRuns, clock: Clock
) -> None:
    async with open_services(*api_urls, workflows, timing=clock) as services, serve_api(services) as api:
        new = {"name": "Harbour", "run": {"question": "Why?"}, "timing": WEEKLY}
        refused = await api.post("/v1/schedules", {**new, "deliver_to": [LOCAL_EMAIL]})
        assert refused.is_problem(400)
        assert "no mail server is set up" in refused.json["detail"]
        made = await api.post("/v1/schedules", new)
        assert made.status == 201, "a schedule that tells nobody is none the worse"
        assert (await api.send("PATCH", f"/v1/schedules/{made.json['id']}", json={"deliver_to": [LOCAL_EMAIL]})).is_problem(400)


async def test_what_cannot_be_scheduled_is_refused(api: ApiClient, pool: asyncpg.Pool) -> None:
    run, question = await api.ask(), {"question": "Why?"}
    for new, status in (
        ({"run": question, "timing": {"cron": "* * * * *"}}, 400),
        ({"run": question, "timing": {"cron": "0 8 * * *", "time_zone": "Nowhere/Land"}}, 400),
        ({"run": question, "from_run": run, "timing": WEEKLY}, 400),
        ({"timing": WEEKLY}, 400),
        ({"from_run": str(uuid4()), "timing": WEEKLY}, 400),
        ({"from_run": run, "timing": WEEKLY}, 409),
        ({"run": question, "timing": WEEKLY, "deliver_to": ["stranger@example.org"]}, 400),
        ({"run": question, "timing": WEEKLY, "deliver_to": ["a@b.org\r\nBcc: c@d.org"]}, 400),
        ({"run": {"question": "Why?", "collections": [f"own-{uuid4().hex}"]}, "timing": WEEKLY}, 400),
    ):
        assert (await api.post("/v1/schedules", {"name": "No", **new})).is_problem(status), new
    user = uuid4()
    await accounts.ensure_user(pool, user, f"{user}@example.org")  # somebody's, but not of this organisation
    strange = {"name": "No", "run": question, "timing": WEEKLY, "deliver_to": [f"{user}@example.org"]}
    assert (await api.post("/v1/schedules", strange)).is_problem(400)
    await accounts.ensure_membership(pool, LOCAL_ORGANISATION, user, Role.VIEWER)
    assert (await api.post("/v1/schedules", strange)).is_problem(400), "nobody has confirmed that the address is theirs"
    await addresses.verify(pool, user)
    assert (await api.post("/v1/schedules", strange)).status == 201
    assert (await api.get(f"/v1/unsubscribe/{uuid4()}")).is_problem(404)
