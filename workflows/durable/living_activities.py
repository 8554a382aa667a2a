"""The activities of a living report. Each first reads the current state, so that repeating it changes nothing."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

from temporalio import activity

from app.collections.nouns import is_index_name
from app.collections.service.index_names import resolved
from app.database.engine import translated
from app.database.tenancy import Tenant
from app.domain.changes import Changes
from app.domain.contract import ResearchInput
from app.domain.errors import InvalidInput, ToolError, ToolUnavailable, TooManyRequests
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.run import RunStatus
from app.domain.schedules import Firing, Outcome, Schedule
from app.quotas.service import admit_run
from app.schedules.storage import deliveries, living_runs, schedules
from app.schedules.storage.living_runs import Baseline, Owner
from retrieval.outside.freshness import no_older_than
from retrieval.outside.meter import counted_for
from retrieval.ports import PageReader
from retrieval.search.on_behalf import OnBehalf
from workflows.agents.ports import Tool
from workflows.agents.remembering import search_agent
from workflows.durable import living_payloads as payloads
from workflows.durable.delivering import deliver
from workflows.durable.failures import final_failure
from workflows.durable.performing import heartbeats
from workflows.durable.persistence import insist
from workflows.durable.probing import Probe, probed
from workflows.durable.workshop import Workshop
from workflows.judging.report_changes import changes_between, cited
from workflows.tools.tool_memory import DictStore, ToolMemory
from workflows.tools.toolbox import EVERYWHERE, build_toolbox, corpora_of

FRESH = timedelta(minutes=10)
"""The greatest age of a cached result that may be used when sources are looked up again."""
READS_AT_ONCE = 8
MOST_READ = 60
NO_QUESTION = "whoever made this schedule may not ask here any more; make it anew"
log = logging.getLogger(__name__)


class LivingActivities:
    """The activities of one worker."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    @property
    def all(self) -> list[Callable[..., Awaitable[Any]]]:
        """The activities to register with the worker."""
        return [self.begin, self.ended, self.tell, self.fail, self.deliver]

    @activity.defn(name=payloads.BEGIN_ACTIVITY)
    async def begin(self, asking: payloads.Asking) -> payloads.Begun:
        """Check whether anything changed, and make the run that researches the changes."""
        async with heartbeats():
            firing = await insist(lambda: schedules.begin(self._shop.database, asking.schedule_id, asking.due_at))
            schedule = await insist(lambda: schedules.get(self._shop.database, asking.schedule_id))
            if firing is None or schedule is None or firing.outcome is not Outcome.RUNNING:
                return payloads.Begun()
            if await insist(lambda: schedules.overtaken(self._shop.database, firing)):
                await self._end(firing, Outcome.SKIPPED, "a later asking had begun already")
                return payloads.Begun()
            return await self._begun(schedule, firing)

    @activity.defn(name=payloads.ENDED_ACTIVITY)
    async def ended(self, run_id: UUID) -> bool:
        """Say whether a run has ended. A deleted run has ended."""
        found = await insist(lambda: living_runs.status(self._shop.database, run_id))
        return found is None or found[0].finished

    @activity.defn(name=payloads.TELL_ACTIVITY)
    async def tell(self, asking: payloads.Asking) -> payloads.Told:
        """Compare the reports, store what changed, and return the messages to send."""
        async with heartbeats():
            firing = await insist(lambda: schedules.begin(self._shop.database, asking.schedule_id, asking.due_at))
            if firing is None:
                return payloads.Told()
            if firing.outcome is Outcome.RUNNING:
                await self._compare(firing)
            return await self._to_send(asking)

    @activity.defn(name=payloads.FAIL_ACTIVITY)
    async def fail(self, failed: payloads.Failed) -> payloads.Told:
        """Store that an asking failed for good."""
        asking = failed.asking
        firing = await insist(lambda: schedules.begin(self._shop.database, asking.schedule_id, asking.due_at))
        if firing is not None:
            await self._end(firing, Outcome.FAILED, failed.detail[:1_000])
        return await self._to_send(asking)

    @activity.defn(name=payloads.DELIVER_ACTIVITY)
    async def deliver(self, delivery: payloads.Delivery) -> None:
        """Send one message."""
        await deliver(self._shop.database, self._shop.mailbox, delivery.id)

    async def _begun(self, schedule: Schedule, firing: Firing) -> payloads.Begun:
        who = await insist(lambda: living_runs.owner(self._shop.database, schedule.id))
        if who is None or not await insist(lambda: living_runs.may_ask(self._shop.database, who)):
            await insist(lambda: schedules.pause(self._shop.database, schedule.id, NO_QUESTION))
            await self._end(firing, Outcome.FAILED, NO_QUESTION)
            return payloads.Begun()
        run = uuid5(schedule.id, firing.due_at.isoformat())
        if firing.run_id is not None:
            return payloads.Begun(start=await insist(lambda: self._shop.log.load(run)))
        before = await self._baseline(firing.baseline_id)
        query, searched = await self._resolved(schedule, who)
        query = query.model_copy(update={"refreshes": before.run_id if before else None})
        probe = await self._probed(query, before) if before else Probe(frozenset(), {})
        if before and not probe.changed:
            await self._end(firing, Outcome.UNCHANGED, calls=len(probe.results))
            return payloads.Begun()
        plan = before.plan if before else None
        start = ResearchInput(run_id=run, query=query, plan=plan, organisation_id=who.organisation)
        await insist(lambda: self._made(firing, who, start, searched, before, probe))
        return payloads.Begun(start=start)

    async def _resolved(self, schedule: Schedule, who: Owner) -> tuple[ResearchQuery, Sequence[UUID]]:
        """Return the question with its collections. Raise `final_failure` when one of them is not open any more."""

        async def resolve() -> tuple[ResearchQuery, Sequence[UUID]]:
            async with translated(), self._shop.database.acquire() as connection, connection.transaction():
                await living_runs.act_for(connection, who)
                return await resolved(connection, schedule.query)

        query, searched = await insist(resolve)
        now = dict(zip(query.collections, query.searched or query.collections, strict=True))
        for name, index in zip(schedule.query.collections, schedule.query.searched, strict=False):
            if is_index_name(index) and not is_index_name(now[name]):
                raise final_failure(InvalidInput(f"the collection {name!r} is gone, or not open to whoever made this schedule"))
        return query, searched

    async def _probed(self, query: ResearchQuery, before: Baseline) -> Probe:
        with no_older_than(FRESH), counted_for(before.run_id):
            return await probed(before.plan, before.turns, self._tools(query))

    async def _made(
        self, firing: Firing, who: Owner, start: ResearchInput, searched: Sequence[UUID], before: Baseline | None, probe: Probe
    ) -> None:
        kept = [search_agent(s.id) for s in before.plan.subtasks if s.id not in probe.changed] if before else []
        results = {key: result.model_dump_json(exclude_defaults=True).encode() for key, result in probe.results.items()}
        async with translated(), self._shop.database.acquire() as connection, connection.transaction():
            await living_runs.act_for(connection, who)
            try:
                await admit_run(connection, Tenant(who.organisation, who.user), self._shop.most)
            except TooManyRequests as error:
                raise final_failure(error) from error
            await living_runs.create(connection, start, searched, before, kept, results)
            await schedules.note_run(connection, firing, start.run_id, len(probe.results))

    async def _compare(self, firing: Firing) -> None:
        """Store the outcome of an asking from the run that it needed."""
        if firing.run_id is None:
            return
        run_id = firing.run_id
        state = await insist(lambda: living_runs.status(self._shop.database, run_id))
        new = await self._report(run_id)
        if state is None or state[0] is not RunStatus.COMPLETED or new is None:
            said = f"its run was {state[0]}: {state[1]}".rstrip(": ") if state else "its run was deleted"
            await self._end(firing, Outcome.FAILED, said)
            return
        old = await self._report(firing.baseline_id)
        await insist(lambda: schedules.set_baseline(self._shop.database, firing.schedule_id, run_id))
        if old is None:
            await self._end(firing, Outcome.FIRST)
            return
        changes = await self._changes(firing, run_id, old, new)
        await self._end(firing, Outcome.UNCHANGED if changes.nothing else Outcome.CHANGED, changes=changes)

    async def _baseline(self, run: UUID | None) -> Baseline | None:
        return await insist(lambda: living_runs.baseline(self._shop.database, run)) if run else None

    async def _report(self, run: UUID | None) -> Report | None:
        return await insist(lambda: living_runs.report(self._shop.database, run)) if run else None

    async def _changes(self, firing: Firing, run_id: UUID, old: Report, new: Report) -> Changes:
        findings = await insist(lambda: living_runs.findings(self._shop.database, run_id))
        query = (await insist(lambda: self._shop.log.load(run_id))).query
        evidence = [quote for finding in findings for quote in finding.quotes]
        texts = await self._texts(run_id, [quote.source.url for quote in cited(old)], self._reader(query))
        return await asyncio.to_thread(changes_between, old, new, evidence, texts)

    async def _texts(self, run_id: UUID, addresses: Sequence[str], reader: PageReader) -> Mapping[str, str | None]:
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

        with no_older_than(FRESH), counted_for(run_id):
            await asyncio.gather(*map(read, list(dict.fromkeys(addresses))[:MOST_READ]))
        return texts

    def _tools(self, query: ResearchQuery) -> Mapping[str, Tool]:
        index = OnBehalf(self._shop.index, query.tenant or None)
        corpora = corpora_of(query.searched or query.collections, self._shop.scientific, query.scope or EVERYWHERE)
        memory = ToolMemory(DictStore())
        return build_toolbox(index, self._reader(query), corpora, memory, beyond=self._shop.beyond, scope=query.scope)

    def _reader(self, query: ResearchQuery) -> PageReader:
        return self._shop.reader_within(query.scope, OnBehalf(self._shop.index, query.tenant or None))

    async def _end(
        self, firing: Firing, outcome: Outcome, detail: str = "", changes: Changes | None = None, calls: int = 0
    ) -> None:
        await insist(lambda: schedules.end(self._shop.database, firing, outcome, detail, changes, calls))

    async def _to_send(self, asking: payloads.Asking) -> payloads.Told:
        made = await insist(lambda: deliveries.make(self._shop.database, asking.schedule_id, asking.due_at))
        return payloads.Told(deliveries=tuple(payloads.Delivery(id=id_) for id_ in made))
