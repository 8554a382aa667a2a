"""The activities of a living report. Each first reads the current state, so that repeating it changes nothing."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

from temporalio import activity

from app.collections.nouns import is_index_name
from app.collections.service.index_names import resolve_collections
from app.database.engine import translate_outages
from app.database.tenancy import Tenant
from app.domain.changes import ReportChanges
from app.domain.contract import ResearchInput
from app.domain.errors import InvalidInput, ToolError, ToolUnavailable, TooManyRequests
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.run import RunStatus
from app.domain.schedules import Firing, Outcome, Schedule
from app.quotas.service import RETRY_AFTER, admit_run
from app.schedules.storage import deliveries, living_runs, schedules
from app.schedules.storage.living_runs import Baseline, Owner
from retrieval.outside.freshness import limit_age
from retrieval.outside.meter import count_for
from retrieval.ports import PageReader
from workflows.agents.stage_memory import path_of_search
from workflows.durable import living_payloads as payloads
from workflows.durable.change_probe import ChangeProbe, make_probe_tools, probe_changes
from workflows.durable.failures import make_final_failure, make_stopping_failure
from workflows.durable.mail_delivery import deliver
from workflows.durable.persistence import persist
from workflows.durable.stage_running import send_heartbeats
from workflows.durable.workshop import Workshop
from workflows.judging.report_changes import compare_reports, list_cited

FRESH_FOR = timedelta(minutes=10)
"""The greatest age of a cached result that may be used when sources are looked up again."""
PLACE_EVERY = timedelta(seconds=5)
"""How often to look whether the organisation may have one more run under way."""
LONGEST_WAIT_FOR_PLACE = timedelta(minutes=45)
"""Below the limit of the activity, which is then tried again."""
READS_AT_ONCE = 8
MOST_READ = 60
NO_QUESTION = "whoever made this schedule may not ask here any more; make it anew"
log = logging.getLogger(__name__)


class LivingActivities:
    """The activities of one worker."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    @property
    def list_activities(self) -> list[Callable[..., Awaitable[Any]]]:
        """The activities to register with the worker."""
        return [self.begin, self.has_ended, self.tell, self.fail, self.deliver]

    @activity.defn(name=payloads.BEGIN_ACTIVITY)
    async def begin(self, asking: payloads.ScheduleAsking) -> payloads.BegunAsking:
        """Check whether anything changed, and make the run that researches the changes."""
        async with send_heartbeats():
            firing = await persist(lambda: schedules.begin(self._shop.database, asking.schedule_id, asking.due_at))
            schedule = await persist(lambda: schedules.get(self._shop.database, asking.schedule_id))
            if firing is None or schedule is None or firing.outcome is not Outcome.RUNNING:
                return payloads.BegunAsking()
            if await persist(lambda: schedules.is_overtaken(self._shop.database, firing)):
                await self._end_firing(firing, Outcome.SKIPPED, "a later asking had begun already")
                return payloads.BegunAsking()
            return await self._begin_asking(schedule, firing)

    @activity.defn(name=payloads.ENDED_ACTIVITY)
    async def has_ended(self, run_id: UUID) -> bool:
        """Say whether a run has ended. A deleted run has ended."""
        found = await persist(lambda: living_runs.get_status(self._shop.database, run_id))
        return found is None or found[0].finished

    @activity.defn(name=payloads.TELL_ACTIVITY)
    async def tell(self, asking: payloads.ScheduleAsking) -> payloads.DeliveryList:
        """Compare the reports, store what changed, and return the messages to send."""
        async with send_heartbeats():
            firing = await persist(lambda: schedules.begin(self._shop.database, asking.schedule_id, asking.due_at))
            if firing is None:
                return payloads.DeliveryList()
            if firing.outcome is Outcome.RUNNING:
                await self._compare(firing)
            return await self._make_deliveries(asking)

    @activity.defn(name=payloads.FAIL_ACTIVITY)
    async def fail(self, failed: payloads.FailedAsking) -> payloads.DeliveryList:
        """Store that an asking failed for good."""
        asking = failed.asking
        firing = await persist(lambda: schedules.begin(self._shop.database, asking.schedule_id, asking.due_at))
        if firing is not None:
            await self._end_firing(firing, Outcome.FAILED, failed.detail[:1_000])
        return await self._make_deliveries(asking)

    @activity.defn(name=payloads.DELIVER_ACTIVITY)
    async def deliver(self, delivery: payloads.MessageDelivery) -> None:
        """Send one message."""
        await deliver(self._shop.database, self._shop.mailbox, delivery.id)

    async def _begin_asking(self, schedule: Schedule, firing: Firing) -> payloads.BegunAsking:
        who = await persist(lambda: living_runs.get_owner(self._shop.database, schedule.id))
        if who is None or not await persist(lambda: living_runs.may_ask(self._shop.database, who)):
            await persist(lambda: schedules.pause(self._shop.database, schedule.id, NO_QUESTION))
            await self._end_firing(firing, Outcome.FAILED, NO_QUESTION)
            return payloads.BegunAsking()
        run = uuid5(schedule.id, firing.due_at.isoformat())
        if firing.run_id is not None:
            return payloads.BegunAsking(start=await persist(lambda: self._shop.log.load(run)))
        before = await self._load_baseline(firing.baseline_id, who)
        query, searched = await self._resolve_query(schedule, who)
        query = query.model_copy(update={"refreshes": before.run_id if before else None})
        probe = await self._probe_changes(query, before) if before else ChangeProbe(frozenset(), {})
        if before and not probe.changed:
            await self._end_firing(firing, Outcome.UNCHANGED, calls=len(probe.results))
            return payloads.BegunAsking()
        plan = before.plan if before else None
        start = ResearchInput(run_id=run, query=query, plan=plan, organisation_id=who.organisation)
        made = await self._await_place(firing, lambda: self._make_run(firing, who, start, searched, before, probe))
        return payloads.BegunAsking(start=start if made else None)

    async def _await_place(self, firing: Firing, make_run: Callable[[], Awaitable[None]]) -> bool:
        """Make the run once the organisation may have one more under way; return False when the schedule was deleted before.

        Raises:
            ApplicationError: the month's quota is used up (never retried), or this worker is stopping.
            TooManyRequests: there was no place for long; to be tried again.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + LONGEST_WAIT_FOR_PLACE.total_seconds()
        while (full := await _find_no_place(make_run)) is not None:
            if loop.time() > until:
                raise full
            await self._note_waiting(firing, f"waits for room: {full}")
            if activity.is_worker_shutdown():
                raise make_stopping_failure()
            await asyncio.sleep(PLACE_EVERY.total_seconds())
            if await persist(lambda: schedules.get(self._shop.database, firing.schedule_id)) is None:
                return False
        return True

    async def _note_waiting(self, firing: Firing, detail: str) -> None:
        await persist(lambda: schedules.note_waiting(self._shop.database, firing, detail))

    async def _resolve_query(self, schedule: Schedule, who: Owner) -> tuple[ResearchQuery, Sequence[UUID]]:
        """Return the question with its collections. Raise `make_final_failure` when one of them is not open any more."""

        async def resolve() -> tuple[ResearchQuery, Sequence[UUID]]:
            async with translate_outages(), self._shop.database.acquire() as connection, connection.transaction():
                await living_runs.act_for(connection, who)
                return await resolve_collections(connection, schedule.query)

        query, searched = await persist(resolve)
        now = dict(zip(query.collections, query.searched or query.collections, strict=True))
        for name, index in zip(schedule.query.collections, schedule.query.searched, strict=False):
            if is_index_name(index) and not is_index_name(now[name]):
                raise make_final_failure(
                    InvalidInput(f"the collection {name!r} is gone, or not open to whoever made this schedule")
                )
        return query, searched

    async def _probe_changes(self, query: ResearchQuery, before: Baseline) -> ChangeProbe:
        with limit_age(FRESH_FOR), count_for(before.run_id):
            return await probe_changes(before.plan, before.turns, make_probe_tools(self._shop, before.plan.narrow(query)))

    async def _make_run(
        self,
        firing: Firing,
        who: Owner,
        start: ResearchInput,
        searched: Sequence[UUID],
        before: Baseline | None,
        probe: ChangeProbe,
    ) -> None:
        kept = [path_of_search(s.id) for s in before.plan.subtasks if s.id not in probe.changed] if before else []
        results = {key: result.model_dump_json(exclude_defaults=True).encode() for key, result in probe.results.items()}
        async with translate_outages(), self._shop.database.acquire() as connection, connection.transaction():
            await living_runs.act_for(connection, who)
            await admit_run(connection, Tenant(who.organisation, who.user), self._shop.most)
            await living_runs.create(connection, start, searched, before, kept, results)
            await schedules.note_run(connection, firing, start.run_id, len(probe.results))

    async def _compare(self, firing: Firing) -> None:
        """Store the outcome of an asking from the run that it needed."""
        if firing.run_id is None:
            return
        run_id = firing.run_id
        state = await persist(lambda: living_runs.get_status(self._shop.database, run_id))
        new = await self._load_report(run_id)
        if state is None or state[0] is not RunStatus.COMPLETED or new is None:
            said = f"its run was {state[0]}: {state[1]}".rstrip(": ") if state else "its run was deleted"
            await self._end_firing(firing, Outcome.FAILED, said)
            return
        old = await self._load_report(firing.baseline_id)
        changes = await self._find_changes(run_id, old, new) if old else None
        # Only now: a round that cannot be compared leaves its changes to the next one.
        await persist(lambda: schedules.set_baseline(self._shop.database, firing.schedule_id, run_id))
        if changes is None:
            await self._end_firing(firing, Outcome.FIRST)
            return
        await self._end_firing(firing, Outcome.UNCHANGED if changes.is_empty else Outcome.CHANGED, changes=changes)

    async def _load_baseline(self, run: UUID | None, who: Owner) -> Baseline | None:
        """Return the run to build on; None also where the schedule's owner may not read, now, what it gathered."""
        if run is None or not await persist(lambda: self._may_read(run, who)):
            return None
        return await persist(lambda: living_runs.get_baseline(self._shop.database, run))

    async def _may_read(self, run: UUID, who: Owner) -> bool:
        async with translate_outages(), self._shop.database.acquire() as connection, connection.transaction():
            return await living_runs.may_read_evidence(connection, who, run)

    async def _load_report(self, run: UUID | None) -> Report | None:
        return await persist(lambda: living_runs.get_report(self._shop.database, run)) if run else None

    async def _find_changes(self, run_id: UUID, old: Report, new: Report) -> ReportChanges:
        findings = await persist(lambda: living_runs.get_findings(self._shop.database, run_id))
        query = (await persist(lambda: self._shop.log.load(run_id))).query
        evidence = [quote for finding in findings for quote in finding.quotes]
        texts = await self._read_texts(run_id, [quote.source.url for quote in list_cited(old)], self._make_reader(query))
        return await asyncio.to_thread(compare_reports, old, new, evidence, texts)

    async def _read_texts(self, run_id: UUID, addresses: Sequence[str], reader: PageReader) -> Mapping[str, str | None]:
        """Return today's texts of the old report's sources; None for a source that is gone.

        A web page that cannot be read is left out, because it is unknown whether it is gone.
        """
        gate, texts = asyncio.Semaphore(READS_AT_ONCE), dict[str, str | None]()

        async def read(address: str) -> None:
            async with gate:
                try:
                    texts[address] = (await reader.read(address)).text
                except ToolUnavailable:
                    raise
                except ToolError as error:
                    log.info("%s cannot be read: %s", address, error)
                    if not address.startswith(("http://", "https://")):
                        texts[address] = None

        with limit_age(FRESH_FOR), count_for(run_id):
            await asyncio.gather(*map(read, list(dict.fromkeys(addresses))[:MOST_READ]))
        return texts

    def _make_reader(self, query: ResearchQuery) -> PageReader:
        return self._shop.make_reader(query.scope, self._shop.view_index(query))

    async def _end_firing(
        self, firing: Firing, outcome: Outcome, detail: str = "", changes: ReportChanges | None = None, calls: int = 0
    ) -> None:
        await persist(lambda: schedules.end(self._shop.database, firing, outcome, detail, changes, calls))

    async def _make_deliveries(self, asking: payloads.ScheduleAsking) -> payloads.DeliveryList:
        made = await persist(lambda: deliveries.make(self._shop.database, asking.schedule_id, asking.due_at))
        return payloads.DeliveryList(deliveries=tuple(payloads.MessageDelivery(id=id_) for id_ in made))


async def _find_no_place(make_run: Callable[[], Awaitable[None]]) -> TooManyRequests | None:
    """Make the run; return the refusal when too many are under way.

    Raises:
        ApplicationError: the month's quota is used up: there is room again only later than after any run.
    """
    try:
        await persist(make_run)
    except TooManyRequests as error:
        if error.retry_after > RETRY_AFTER:
            raise make_final_failure(error) from error
        return error
    return None
