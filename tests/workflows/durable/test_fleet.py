"""A fleet on real PostgreSQL and Temporal: its window, its histories, what fails, what is wished, and a killed worker."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from temporalio.testing import ActivityEnvironment

from app.accounts.nouns.access import LOCAL_ORGANISATION, LOCAL_USER
from app.collections.nouns import index_name_of
from app.database.tenancy import Tenant, TenantDatabase, act_for
from app.domain.budget import Budget
from app.domain.contract import RESEARCH_QUEUE
from app.domain.errors import Conflict, InvalidInput, NotFound
from app.domain.fleets import FLEET_WORKFLOW, Fleet, FleetEnd, FleetInput, FleetQuestion, FleetWish, fleet_workflow_id
from app.domain.query import ResearchQuery
from app.domain.run import RunStatus
from app.fleets.service import Fleets
from app.fleets.storage import fleets as stored
from tests.workflows.durable.toys import Gate
from tests.workflows.durable.whole_product import WholeProduct
from workflows.durable import fleet_activities
from workflows.durable.fleet_payloads import FleetAdvance
from workflows.durable.fleet_pipeline import FleetPipeline

RUN = 17
"""Model calls of a run of the toy agents."""
UNDER_WAY = "SELECT count(*) FROM runs WHERE finished_at IS NULL AND fleet_id IS NOT NULL"
# An endpoint that wants to be told everything.
LISTENING = """
    INSERT INTO webhooks (id, organisation_id, url, secret)
    VALUES (gen_random_uuid(), $1, 'https://hooks.example.org', 'whsec_x')"""
PLACES = "INSERT INTO quotas (subject, organisation_id, concurrent_runs) VALUES ($1, $1, 2)"


@contextmanager
def acting() -> Iterator[None]:
    with act_for(Tenant(LOCAL_ORGANISATION, LOCAL_USER)):
        yield


def fleets_of(house: WholeProduct) -> Fleets:
    return Fleets(TenantDatabase(house.database), house.gateway)


def question(name: str, **options: object) -> FleetQuestion:
    return FleetQuestion(name=name, query=ResearchQuery.model_validate({"question": f"Question {name}?", **options}))


@dataclass
class Heard:
    ends: list[FleetEnd] = field(default_factory=list)

    def __call__(self, asked: FleetQuestion, end: FleetEnd) -> None:
        assert asked.name == end.name
        self.ends.append(end)

    @property
    def by_name(self) -> dict[str, FleetEnd]:
        return {end.name: end for end in self.ends}


@dataclass
class Window:
    """Counts the fleet's runs that have begun and not ended, at every model call."""

    house: WholeProduct
    most: int = 0

    async def __call__(self, said: str) -> None:
        rows = await self.house.database.fetch(UNDER_WAY)
        self.most = max(self.most, rows[0][0])


async def histories(house: WholeProduct, fleet: UUID) -> list[int]:
    found = house.client.list_workflows(f"WorkflowId = '{fleet_workflow_id(fleet)}'")
    return [(await house.client.get_workflow_handle(w.id, run_id=w.run_id).describe()).history_length async for w in found]


async def test_a_window_of_runs_works_a_data_set_in_short_histories(house: WholeProduct) -> None:
    fleet, heard, window = uuid4(), Heard(), Window(house)
    house.model.hook = window
    await house.database.execute(LISTENING, LOCAL_ORGANISATION)
    asked = [question(str(n)) for n in range(7)]
    asked += [question("tight", budget=Budget(max_tokens=900)), question("foreign", collections=(index_name_of(uuid4()),))]
    first = FleetInput(fleet_id=fleet, organisation_id=LOCAL_ORGANISATION, history=30)
    with acting():
        async with house.start_worker():
            fleets = fleets_of(house)
            await fleets.make(fleet, 3)
            await house.client.start_workflow(FLEET_WORKFLOW, first, id=fleet_workflow_id(fleet), task_queue=RESEARCH_QUEUE)
            assert await FleetPipeline(fleets, fleet, 3).run(iter(asked), heard) == 9
            again = Heard()
            assert await FleetPipeline(fleets, fleet, 3).run(asked, again) == 9
            with pytest.raises(Conflict, match="complete without 'new'"):
                await FleetPipeline(fleets, fleet, 3).run([question("new")], Heard())
        assert [end.number for end in heard.ends] == list(range(1, 10))
        assert again.ends == heard.ends
        refused, tight = heard.by_name.pop("foreign"), heard.by_name["tight"]
        assert (refused.status, refused.run_id) == (RunStatus.FAILED, None)
        assert "there is no collection" in refused.detail
        assert {end.status for end in heard.ends if end is not refused} == {RunStatus.COMPLETED}
        assert tight.run_id is not None
        spent = (await house.get_run(tight.run_id)).usage
        assert 0 < spent.tokens <= 900
        assert "budget" in await house.read_report_markdown(tight.run_id)
        assert len(house.model.asked) == RUN * 7 + spent.model_calls
        assert window.most == 3
        lengths = await histories(house, fleet)
        assert len(lengths) > 1
        assert max(lengths) < 30 + 40
        assert await house.runs.list_page(10, None) == []
        found = await fleets.get(fleet)
        assert (found.questions, found.ended, found.under_way) == (9, 9, 0)
        assert found.ended_at is not None
    (told,) = [json.loads(row["body"]) for row in await house.database.fetch("SELECT body FROM webhook_deliveries")]
    sums = {"fleet_id": str(fleet), "status": "completed", "questions": 9, "by_status": {"completed": 8, "failed": 1}}
    assert (told["type"], told["data"]) == ("fleet.ended", sums), "one message for nine runs"
    with act_for(Tenant(uuid4())), pytest.raises(NotFound):
        await fleets_of(house).get(fleet)


async def test_a_question_that_cannot_be_asked_leaves_its_place_to_the_next_at_once(
    house: WholeProduct, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without waiting: the time to wait for news is over as soon as it begins."""
    monkeypatch.setattr(fleet_activities, "LONGEST_LOOK", timedelta(0))
    fleet, gone = uuid4(), (index_name_of(uuid4()),)
    with acting():
        fleets = fleets_of(house)
        await fleets.make(fleet, 2)
        await fleets.add(fleet, [*(question(str(n), collections=gone) for n in range(5)), question("good")])
        moving = fleet_activities.FleetActivities(house.make_workshop())
        step = await ActivityEnvironment().run(moving.advance, FleetAdvance(fleet_id=fleet))
        assert [start.query.question for start in step.starts] == ["Question good?"]
        assert (await fleets.get(fleet)).ended == 5


async def test_a_fleet_is_paused_leaves_places_to_people_and_is_cancelled(house: WholeProduct) -> None:
    fleet, gate = uuid4(), Gate("section 1 draft")
    house.model.hook = gate
    with acting():
        fleets = fleets_of(house)
        await fleets.make(fleet, 2)
        with pytest.raises(InvalidInput, match="approve the plan of '1'"):
            await fleets.add(fleet, [question("1", approve_plan=True)])
        async with house.start_worker():
            await fleets.add(fleet, [question(str(n)) for n in range(6)])
            await gate.reached.wait()
            assert (await fleets.set_wish(fleet, FleetWish.PAUSE)).wish is FleetWish.PAUSE
            gate.open()
            paused = await until(fleets, fleet, lambda found: found.ended == 2)
            assert (paused.under_way, paused.ended_at) == (0, None)

            await house.database.execute(PLACES, LOCAL_ORGANISATION)
            gate.shut()
            await fleets.set_wish(fleet, FleetWish.GO)
            held = await until(fleets, fleet, lambda found: bool(found.detail))
            assert held.under_way == 1
            assert "waits for room: 1 of the 1 runs" in held.detail
            person = await house.ask("Is there a place for me?")

            await fleets.set_wish(fleet, FleetWish.CANCEL)
            # The gate stays shut: a run that could go on might end before it hears that it is cancelled.
            over = await until(fleets, fleet, lambda found: found.ended_at is not None)
            gate.open()
            assert over.ended == over.questions == 6
            ends = await fleets.list_ends(fleet)
            assert [end.status for end in ends][:2] == [RunStatus.COMPLETED] * 2
            assert {end.status for end in ends[2:]} == {RunStatus.CANCELLED}
            assert sum(end.run_id is None for end in ends) == 3
            await house.wait_for(person, RunStatus.COMPLETED)
            with pytest.raises(Conflict, match="has ended"):
                await fleets.set_wish(fleet, FleetWish.GO)
            assert await stored.list_at_work(house.database) == []


async def until(fleets: Fleets, fleet: UUID, reached: Callable[[Fleet], bool]) -> Fleet:
    while not reached(found := await fleets.get(fleet)):
        await asyncio.sleep(0.05)
    return found
