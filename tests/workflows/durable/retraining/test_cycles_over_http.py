"""Cycles over HTTP, and on the command line: real PostgreSQL, Temporal and worker, and steps that are toys."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import SecretStr

from app.accounts.nouns.access import Role
from app.domain.errors import NotFound
from app.http.services import open_services
from app.models.service.temporal_gateway import TemporalCycles
from app.runs.service.temporal_gateway import TemporalGateway
from app.settings import Settings
from infra.cli import retrain_commands
from infra.local.postgres import LocalPostgres
from tests.app.annotators import Person, add_person
from tests.app.served_api import ApiClient, serve_api
from tests.support.accounts import role_urls
from tests.support.adapter_server import serve_adapters
from tests.workflows.durable.retraining.toy_cycle import ANN, STAGE, ToyLoop
from tests.workflows.durable.whole_product import WholeProduct

CYCLES, PLANS = "/v1/registry/cycles", "/v1/registry/plans"
REASON = {"reason": "a <fair> week"}
ACTS: dict[str, dict[str, Any]] = {"approve": {"step": "rubric.serve"}, "pause": {}, "go": {}, "stop": {"after_step": True}}


@pytest.fixture
async def loop(house: WholeProduct, tmp_path: Path) -> AsyncIterator[ToyLoop]:
    async with serve_adapters() as server:
        yield ToyLoop(house, tmp_path / "loop", server)


@pytest.fixture
def urls(postgres_server: LocalPostgres, own_postgres_url: str) -> tuple[str, str]:
    return role_urls(postgres_server, own_postgres_url)


@pytest.fixture
async def api(loop: ToyLoop, urls: tuple[str, str]) -> AsyncIterator[ApiClient]:
    address = loop.house.address
    cycles: dict[str, Any] = {"cycle_gateway": TemporalCycles(address), "loop": loop.folder}
    async with open_services(*urls, TemporalGateway(address), **cycles) as services, serve_api(services) as served:
        yield served


@pytest.fixture
async def operator(loop: ToyLoop, api: ApiClient) -> Person:
    return await add_person(loop.house.database, api, Role.ADMIN)


@pytest.fixture
async def plan(loop: ToyLoop) -> AsyncIterator[str]:
    """The name of a scheduled plan, which asks a person before it loads a model."""
    name = f"weekly-{uuid4().hex[:8]}"
    samples = STAGE.replace('"rubric"', '"writer"', 2).replace("preference-pairs", "self-samples") + 'inputs = ["/srv/reports"]\n'
    gateway = TemporalCycles(loop.house.address)
    written = loop.write_plan('approve = ["rubric.serve"]', stages=STAGE + samples, name=name)
    await gateway.schedule_plan(loop.folder, written, "0 3 * * sun", "Asia/Shanghai")
    yield name
    await gateway.remove_schedule(name)


async def wait_for(person: Person, cycle: str, state: str) -> dict[str, Any]:
    while (found := (await person.get(f"{CYCLES}/{cycle}")).json["cycle"])["state"] != state:
        assert found["ended_at"] is None, found
        await asyncio.sleep(0.05)
    return dict(found)


async def test_a_scheduled_plan_is_started_now_and_approved_and_ends_as_its_log_tells(
    loop: ToyLoop, plan: str, operator: Person
) -> None:
    async with loop.worker():
        begun = await operator.post(f"{PLANS}/{plan}/start", REASON)
        assert begun.status == 201, begun.body
        cycle = begun.json["id"]
        [told] = (await operator.get(PLANS)).json["items"]
        assert told["under_way"] == cycle
        assert (await operator.post(f"{PLANS}/{plan}/start", REASON)).is_problem(409)
        waiting = await wait_for(operator, cycle, "waiting")
        assert (waiting["step"], waiting["stage"], waiting["asks"]) == ("rubric.serve", "rubric", True)
        assert waiting["created_at"] < waiting["since"]
        assert (await operator.post(f"{CYCLES}/{cycle}/approve", REASON | {"step": "rubric.train"})).is_problem(400)
        approved = await operator.post(f"{CYCLES}/{cycle}/approve", REASON | {"step": "rubric.serve"})
        assert (approved.status, approved.json["asks"]) == (200, False)
        ended = await wait_for(operator, cycle, "promoted")
    assert (ended["step"], ended["stage"], ended["since"]) == ("", "", ended["ended_at"])
    detail = (await operator.get(f"{CYCLES}/{cycle}")).json
    assert detail["approve"] == ["rubric.serve"]
    assert {step["verdict"] for step in detail["steps"]} == {"done"}
    assert detail["steps"][0]["step"] == "snapshot"
    papers = [(paper["step"], paper["text"]) for paper in detail["papers"]]
    assert papers[:2] == [("check", "# check\n"), ("rubric.gate", "# rubric.gate\n")]
    first, *others = await list_events(operator, cycle)
    assert (first["type"], first["payload"]["why"]) == ("cycle_started", REASON["reason"])
    address = f"{operator.id}@example.org"
    said = [event["payload"] for event in others if "approved" in event["payload"]]
    assert said == [{"approved": "rubric.serve", "by": address, "why": REASON["reason"]}]
    assert ended["last_seq"] == len(others) + 1
    entries = (await operator.get("/v1/audit")).json["items"]
    done = [(each["action"], each["subject"], each["user_id"]) for each in entries if each["action"].startswith("cycle_")]
    assert done == [(action, cycle, str(operator.id)) for action in ("cycle_step_approved", "cycle_started")]
    assert all(each["detail"]["why"] == REASON["reason"] for each in entries if each["action"].startswith("cycle_"))


async def list_events(person: Person, cycle: str) -> list[dict[str, Any]]:
    """All events, three at a time."""
    found: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = (await person.get(f"{CYCLES}/{cycle}/events?after={after}&limit=3")).json
        found, after = [*found, *page["items"]], page["next"]
    assert [event["seq"] for event in found] == list(range(1, len(found) + 1))
    return found


async def test_a_cycle_is_paused_goes_on_and_is_stopped_after_its_step(loop: ToyLoop, operator: Person) -> None:
    loop.script(rubric_train={"ticks": 30})
    async with loop.worker():
        cycle = str((await loop.cycles.start(loop.write_plan(), ANN)).id)
        await loop.wait_for_ticks(UUID(cycle), "rubric.train", 2)
        assert (await operator.post(f"{CYCLES}/{cycle}/pause", REASON)).json["wish"] == "pause"
        paused = await wait_for(operator, cycle, "paused")
        assert (paused["step"], paused["detail"]) == ("rubric.train", "before rubric.train")
        assert (await operator.post(f"{CYCLES}/{cycle}/go", REASON)).json["wish"] == "go"
        await wait_for(operator, cycle, "running")
        assert (await operator.post(f"{CYCLES}/{cycle}/stop", REASON | {"after_step": True})).json["wish"] == "stop_after"
        assert (await wait_for(operator, cycle, "stopped"))["detail"] == "before rubric.exam"
        for act, more in ACTS.items():
            assert (await operator.post(f"{CYCLES}/{cycle}/{act}", REASON | more)).is_problem(400 if act == "approve" else 409)
        other = str((await loop.cycles.start(loop.write_plan(name="other"), ANN)).id)
        assert (await operator.post(f"{CYCLES}/{other}/stop", REASON)).json["wish"] == "stop"
        await wait_for(operator, other, "stopped")
    listed = (await operator.get(f"{CYCLES}?limit=1")).json
    assert ([each["id"] for each in listed["items"]], listed["next"]) == ([other], other)
    rest = (await operator.get(f"{CYCLES}?before={other}")).json
    assert ([each["id"] for each in rest["items"]], rest["next"]) == ([cycle], None)


async def test_only_the_operators_people_read_and_only_its_admins_act(
    loop: ToyLoop, api: ApiClient, plan: str, operator: Person
) -> None:
    cycle = (await loop.cycles.start(loop.write_plan(), ANN)).id
    database = loop.house.database
    member, other = await add_person(database, api, Role.MEMBER), await add_person(database, api, Role.OWNER, uuid4())
    for path in (PLANS, CYCLES, f"{CYCLES}/{cycle}", f"{CYCLES}/{cycle}/events"):
        assert [(await person.get(path)).status for person in (operator, member, other)] == [200, 200, 403], path
    acts = {f"{CYCLES}/{cycle}/{act}": REASON | more for act, more in ACTS.items()} | {f"{PLANS}/{plan}/start": REASON}
    for path, body in acts.items():
        for person in (member, other):
            assert (await person.post(path, body)).is_problem(403), path
        assert (await operator.post(path, body | {"reason": " "})).is_problem(400), path
    assert (await loop.cycles.get(cycle)).wish == "go"
    roles = [(await person.get("/v1/registry/roles")).json for person in (operator, member, other)]
    assert [(each["operates"], each["may_act"]) for each in roles] == [(True, True), (True, False), (False, False)]
    nowhere = f"{CYCLES}/{uuid4()}"
    for path in (nowhere, f"{nowhere}/events"):
        assert (await operator.get(path)).is_problem(404)
    for act, more in ACTS.items():
        assert (await operator.post(f"{nowhere}/{act}", REASON | more)).is_problem(404)
    assert (await operator.get(f"{CYCLES}?before={uuid4()}")).is_problem(404)
    assert (await operator.post(f"{PLANS}/never-scheduled/start", REASON)).is_problem(404)


async def test_what_is_scheduled_is_told_with_what_it_lacks(
    loop: ToyLoop, plan: str, operator: Person, urls: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    [told] = (await operator.get(PLANS)).json["items"]
    assert (told["name"], told["cron"], told["time_zone"], told["fault"]) == (plan, "0 3 * * sun", "Asia/Shanghai", "")
    following = datetime.fromisoformat(told["next_at"]).astimezone(UTC)
    assert (following.isoweekday(), following.hour) == (6, 19)  # Sunday at three in Shanghai
    needs = [(need["what"], need["stage"], need["least"], need["found"], need["missing"]) for need in told["needs"]]
    assert needs == [
        ("pairs", "", 100, 0, 100),
        ("readers", "", 5, 0, 5),
        ("rows", "rubric", 50, 0, 50),
        ("rows", "writer", 50, None, 0),
    ]
    await loop.cycles.start(loop.write_plan(), ANN)
    settings = Settings(
        home=loop.folder.parent / "home",
        loop_dir=loop.folder,
        worker_database_url=SecretStr(urls[1]),
        temporal_address=loop.house.address,
    )
    assert await retrain_commands.list_cycles(settings) == 0
    printed = capsys.readouterr().out
    assert f"{plan}: next at {following:%Y-%m-%d} 19:00:00 UTC (0 3 * * sun, Asia/Shanghai)" in printed
    assert "about 0 of 100 decided pairs; 100 are missing" in printed
    assert "writer: 50 rows are needed; how many there are is known when the set is made" in printed
    assert "weekly" in printed.splitlines()[-1]
    (loop.folder / "plans" / plan / "gate.toml").unlink()
    [told] = (await operator.get(PLANS)).json["items"]
    assert "gate.toml" in told["fault"]
    assert told["needs"] == []


async def test_a_plan_that_is_unscheduled_is_not_told(loop: ToyLoop, operator: Person) -> None:
    gateway, name = TemporalCycles(loop.house.address), f"once-{uuid4().hex[:8]}"
    await gateway.schedule_plan(loop.folder, loop.write_plan(name=name), "0 3 * * sun")
    await gateway.remove_schedule(name)
    assert (await operator.get(PLANS)).json["items"] == []
    with pytest.raises(NotFound):
        await gateway.remove_schedule(name)
