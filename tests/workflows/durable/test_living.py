"""Living reports on real PostgreSQL and Temporal: what a rerun costs and tells, and that repeating a step changes nothing."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from temporalio.testing import ActivityEnvironment

from app.accounts.nouns.access import LOCAL_ORGANISATION, LOCAL_USER
from app.accounts.service.bootstrap import LOCAL_EMAIL
from app.domain.contract import RESEARCH_QUEUE, workflow_id
from app.domain.deliveries import MailState
from app.domain.errors import ToolError, ToolUnavailable
from app.domain.evidence import Passage, Source, snapshot_hash
from app.domain.query import ResearchQuery
from app.domain.run import RunStatus
from app.domain.schedules import LIVING_WORKFLOW, Firing, Firings, Outcome, Schedule, Timing
from app.schedules.storage import deliveries, schedules
from retrieval.ports import Document, SearchFilter
from tests.workflows.durable.toys import SOURCE, Gate, ToyIndex, make_toy_agents
from tests.workflows.durable.whole_product import WholeProduct
from workflows.durable import living_activities
from workflows.durable.living_activities import NO_QUESTION, LivingActivities
from workflows.durable.living_payloads import FailedAsking, ScheduleAsking
from workflows.durable.mail_delivery import NO_MAILBOX

PAGE = SOURCE.model_copy(update={"url": "https://example.org/budget", "title": "Budget"})
BUDGETS = ("The budget of the harbour for 2025 is 12 million euros.", "The budget of the harbour for 2025 is 17 million euros.")
FIRST_RUN = 17
"""Model calls of the toy agents: a plan, three searches of three turns, an outline, three sections drafted and revised."""
ONE_SEARCH_AND_THE_REPORT = 10
PRIVATE = "INSERT INTO collections (id, name, everyone, created_by) VALUES ($1, 'Drawer', false, NULL)"
SEARCHED = "SELECT array(SELECT collection_id FROM collection_runs WHERE run_id = $1)"
USED_UP = "INSERT INTO quotas (subject, tokens_per_month) VALUES (current_organisation(), 1)"
ONE_PLACE = "INSERT INTO quotas (subject, concurrent_runs) VALUES (current_organisation(), 1)"


@dataclass
class ChangingIndex(ToyIndex):
    """What `changing` searches for is a page that changes. `away` plays an index that fails, `unreadable` one without pages."""

    edition: int = 0
    away: bool = False
    unreadable: bool = False
    changing: str = "s2"
    page: Source = PAGE

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        if self.away:
            raise ToolError("the index has lost its mind")
        if not query.startswith(self.changing):
            return await super().search(query, limit, where)
        self.searched.append(query)
        text = BUDGETS[self.edition]
        source = self.page.model_copy(update={"snapshot": snapshot_hash(text)})
        return [Passage(source=source, text=text, start=0, end=len(text))]

    async def read(self, url: str, tenant: str | None = None, collections: Sequence[str] = ()) -> Document:
        if self.unreadable:
            raise ToolUnavailable("the index does not answer")
        if url == self.page.url:
            text = BUDGETS[self.edition]
            return Document(source=self.page.model_copy(update={"snapshot": snapshot_hash(text)}), text=text)
        return await super().read(url, tenant, collections)

    async def get_snapshot(self, name: str, tenant: str | None = None) -> str:
        known = {snapshot_hash(text): text for text in BUDGETS}
        return known[name] if name in known else await super().get_snapshot(name, tenant)


async def scheduled(house: WholeProduct, run: UUID | None) -> UUID:
    made = Schedule(
        id=uuid4(),
        name="Weekly",
        query=ResearchQuery(question="why tariffs?"),
        timing=Timing(cron="0 8 * * mon"),
        deliver_to=(LOCAL_EMAIL, "left@example.org"),
        baseline_id=run,
        created_at=datetime.now(UTC),
    )
    assert await schedules.create(house.database, made, 1_000)
    return made.id


async def asked(house: WholeProduct, schedule: UUID) -> Firing:
    """One asking, to its end."""
    request, name = Firings(schedule_id=schedule), f"asking-{uuid4()}"
    await house.client.execute_workflow(LIVING_WORKFLOW, request, id=name, task_queue=RESEARCH_QUEUE)
    return (await schedules.list_firings(house.database, schedule, 1, None))[0]


async def test_a_rerun_costs_what_changed_and_tells_what_changed(house: WholeProduct) -> None:
    house.index = index = ChangingIndex()
    async with house.start_worker():
        run = await house.ask()
        assert (await house.wait_for(run, RunStatus.COMPLETED)).usage.model_calls == FIRST_RUN
        schedule, searches = await scheduled(house, run), len(index.searched)

        same = await asked(house, schedule)
        assert (same.outcome, same.run_id, same.repeated_calls) == (Outcome.UNCHANGED, None, searches)
        assert same.changes.is_empty
        assert len(await house.runs.list_page(10, None)) == 1

        index.edition = 1
        other = await asked(house, schedule)
        assert (other.outcome, other.baseline_id) == (Outcome.CHANGED, run)
        assert other.run_id is not None
        made = await house.get_run(other.run_id)
        begun = await house.client.get_workflow_handle(workflow_id(other.run_id)).describe()
        assert begun.raw_description.workflow_execution_info.priority.fairness_key == str(LOCAL_ORGANISATION)
        assert made.usage.model_calls == ONE_SEARCH_AND_THE_REPORT
        assert made.usage.tool_calls == 3
        assert made.plan == (await house.get_run(run)).plan
        (passage,) = other.changes.passages
        assert (passage.before.text, passage.after and passage.after.text) == BUDGETS
        assert not other.changes.vanished_sources

        (letter,) = await deliveries.list_page(house.database, schedule, 10, None)  # to members, and to nobody about nothing
        assert (letter.address, letter.state, letter.due_at) == (LOCAL_EMAIL, MailState.REFUSED, other.due_at)
        assert letter.detail == NO_MAILBOX
        await deliveries.unsubscribe(house.database, letter.id)

        again = await asked(house, schedule)  # compared with the newer report, whose untouched parts were taken over
        assert (again.outcome, again.baseline_id) == (Outcome.UNCHANGED, other.run_id)
        assert again.repeated_calls == searches
        index.edition = 0
        await house.database.execute(USED_UP)
        refused = await asked(house, schedule)
        assert (refused.outcome, refused.run_id) == (Outcome.FAILED, None)
        assert "that this organisation may use in a month are used up" in refused.detail
        await house.database.execute("DELETE FROM quotas")
        assert (await asked(house, schedule)).outcome is Outcome.CHANGED
        assert len(await deliveries.list_page(house.database, schedule, 10, None)) == 1


async def test_a_first_asking_makes_a_first_report_and_a_failing_search_is_no_change(house: WholeProduct) -> None:
    house.index = index = ChangingIndex()
    async with house.start_worker() as shop:
        schedule = await scheduled(house, None)
        first = await asked(house, schedule)
        assert first.outcome is Outcome.FIRST
        assert first.run_id is not None
        assert "[[" not in await house.read_report_markdown(first.run_id)

        living, env, index.away = LivingActivities(shop), ActivityEnvironment(), True
        with pytest.raises(ToolError, match="lost its mind"):  # to be tried again
            await env.run(living.begin, ScheduleAsking(schedule_id=schedule, due_at=first.due_at + timedelta(hours=1)))
        index.away, index.edition = False, 1
        week = ScheduleAsking(schedule_id=schedule, due_at=first.due_at + timedelta(days=7))
        begun = [await env.run(living.begin, week) for _ in range(2)]
        assert begun[0].start == begun[1].start
        assert begun[0].start is not None
        assert len(await house.runs.list_page(10, None)) == 2

        late = await env.run(living.begin, ScheduleAsking(schedule_id=schedule, due_at=first.due_at + timedelta(days=1)))
        assert late.start is None
        skipped = {firing.due_at: firing.outcome for firing in await schedules.list_firings(house.database, schedule, 10, None)}
        assert skipped[first.due_at + timedelta(days=1)] is Outcome.SKIPPED


@pytest.mark.parametrize("deleted", [False, True])
async def test_a_round_waits_for_a_place_and_says_so(house: WholeProduct, monkeypatch: pytest.MonkeyPatch, deleted: bool) -> None:
    monkeypatch.setattr(living_activities, "PLACE_EVERY", timedelta(milliseconds=20))
    house.index = index = ChangingIndex()
    async with house.start_worker():
        run = await house.ask()
        await house.wait_for(run, RunStatus.COMPLETED)
        schedule = await scheduled(house, run)
        house.model.hook = gate = Gate("plan")
        in_the_way = await house.ask("And who else asks?")
        await gate.reached.wait()
        await house.database.execute(ONE_PLACE)
        index.edition = 1
        asking = asyncio.create_task(asked(house, schedule))
        while not (waiting := await schedules.list_firings(house.database, schedule, 1, None)) or not waiting[0].detail:
            assert not asking.done(), (await asking).detail
            await asyncio.sleep(0.02)
        assert (waiting[0].outcome, waiting[0].run_id) == (Outcome.RUNNING, None)
        assert "waits for room: 1 of the 1 runs" in waiting[0].detail
        if deleted:
            await schedules.delete(house.database, schedule)
            await asking  # it ends although there is still no place
        gate.open()
        await house.wait_for(in_the_way, RunStatus.COMPLETED)
        told = await asking
    assert deleted or (told.outcome, told.detail) == (Outcome.CHANGED, "")
    assert len(await house.runs.list_page(10, None)) == (2 if deleted else 3)


async def test_what_a_reader_dropped_stays_out_of_every_later_round(house: WholeProduct) -> None:
    house.index = index = ChangingIndex(changing="s3")
    house.model.hook = gate = Gate("s1 turn 1")
    async with house.start_worker(make_toy_agents(chain=True)):
        run = await house.ask()
        await gate.reached.wait()
        await house.steering.drop_subtask(run, "s2")
        gate.open()
        await house.wait_for(run, RunStatus.COMPLETED)
        schedule = await scheduled(house, run)
        same = await asked(house, schedule)
        assert (same.outcome, same.run_id) == (Outcome.UNCHANGED, None)
        index.edition = 1
        told = await asked(house, schedule)
        assert (told.outcome, len(told.changes.passages)) == (Outcome.CHANGED, 1)
        assert told.run_id is not None
        plan = (await house.get_run(told.run_id)).plan
    assert plan is not None
    assert [(subtask.id, subtask.depends_on) for subtask in plan.subtasks] == [("s1", ()), ("s3", ())]
    assert not any(said.startswith("s2 turn") for said in house.model.asked)


async def test_what_changed_is_told_by_the_next_round_when_one_could_not_compare_it(house: WholeProduct) -> None:
    house.index = index = ChangingIndex()
    async with house.start_worker() as shop:
        run = await house.ask()
        await house.wait_for(run, RunStatus.COMPLETED)
        schedule = await scheduled(house, run)
        index.edition = 1
        living, env = LivingActivities(shop), ActivityEnvironment()
        asking = ScheduleAsking(schedule_id=schedule, due_at=datetime.now(UTC) - timedelta(hours=1))
        begun = (await env.run(living.begin, asking)).start
        assert begun is not None
        await house.gateway.start(begun)
        await house.wait_for(begun.run_id, RunStatus.COMPLETED)
        index.unreadable = True
        with pytest.raises(ToolUnavailable):  # to be tried again, until there are no attempts left
            await env.run(living.tell, asking)
        await env.run(living.fail, FailedAsking(asking=asking, detail="the index does not answer"))
        index.unreadable = False
        told = await asked(house, schedule)
    assert (told.outcome, told.baseline_id) == (Outcome.CHANGED, run)
    [passage] = told.changes.passages
    assert (passage.before.text, passage.after and passage.after.text) == BUDGETS


async def test_a_schedule_ends_with_the_membership_of_whoever_made_it(house: WholeProduct) -> None:
    async with house.start_worker():
        schedule = await scheduled(house, None)
        await house.database.execute("DELETE FROM memberships WHERE user_id = $1", LOCAL_USER)
        failed = await asked(house, schedule)
        assert (failed.outcome, failed.detail) == (Outcome.FAILED, NO_QUESTION)
        found = await schedules.get(house.database, schedule)
        assert found is not None
        assert (found.paused, found.detail) == (True, NO_QUESTION)


async def test_a_schedule_does_not_build_on_evidence_that_its_owner_may_not_read_now(house: WholeProduct) -> None:
    async with house.start_worker():
        run = await house.ask()
        await house.wait_for(run, RunStatus.COMPLETED)
        schedule = await scheduled(house, run)
        await house.database.execute("UPDATE memberships SET role = 'member' WHERE user_id = $1", LOCAL_USER)
        await house.database.execute(PRIVATE, drawer := uuid4())
        await house.database.execute("INSERT INTO collection_runs (collection_id, run_id) VALUES ($1, $2)", drawer, run)
        anew = await asked(house, schedule)
        assert anew.run_id is not None
        assert (await house.get_run(anew.run_id)).usage.model_calls == FIRST_RUN
        assert await house.database.fetchval(SEARCHED, anew.run_id) == []

        await house.database.execute("UPDATE collections SET users = $2 WHERE id = $1", drawer, [LOCAL_USER])
        await house.database.execute("UPDATE schedules SET baseline_id = $2 WHERE id = $1", schedule, run)
        assert (await asked(house, schedule)).outcome is Outcome.UNCHANGED


async def test_a_run_that_takes_over_evidence_is_of_the_same_collections(house: WholeProduct) -> None:
    house.index = index = ChangingIndex(page=PAGE.model_copy(update={"url": "file:///Drawer/budget.txt"}))
    async with house.start_worker():
        run = await house.ask()
        await house.wait_for(run, RunStatus.COMPLETED)
        await house.database.execute(PRIVATE, drawer := uuid4())
        await house.database.execute("INSERT INTO collection_runs (collection_id, run_id) VALUES ($1, $2)", drawer, run)
        schedule, index.edition = await scheduled(house, run), 1
        told = await asked(house, schedule)
        assert await house.database.fetchval(SEARCHED, told.run_id) == [drawer]
        # What is on no website may be an own document.
        own = dict(await house.database.fetch("SELECT hash, own FROM run_sources WHERE run_id = $1", told.run_id))
        assert own == {name: name in map(snapshot_hash, BUDGETS) for name in own}
        assert {*own.values()} == {True, False}
