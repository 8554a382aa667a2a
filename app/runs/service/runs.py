"""Ask a question, and read its run, report and evidence."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from uuid import UUID, uuid4

from app.asking.storage import rubrics
from app.collections.service.index_names import resolve_collections
from app.collections.storage import collections
from app.database.engine import Database, Executor, forbid_repetition
from app.disk import Disks
from app.domain.contract import ResearchInput
from app.domain.errors import Forbidden, InvalidInput, NotFound, Unavailable
from app.domain.query import ResearchQuery, SystemName
from app.domain.revision import DELIVERED
from app.domain.run import Run
from app.outgoing.model_check import ModelCheck
from app.preferences.storage import writer_defaults
from app.reports.rendering.withholding import withhold_evidence
from app.reports.storage import reports, versions
from app.reports.storage.reports import StoredReport
from app.runs.nouns import AgreedRubric, PurposeUsage, RunFilter, sum_purposes
from app.runs.service.gateway import RunGateway
from app.runs.storage import events, evidence, runs, spending, steering
from app.runs.storage import stored_turns as tapes
from app.runs.storage.events import LoggedEvent
from app.runs.storage.run_log import RunLog

ALL_SYSTEMS = tuple(SystemName)
ALL = RunFilter()
SYSTEMS_WITHOUT_MODEL = (SystemName.MINDDR,)
"""The others need a language model."""
WAITING_FOR_WORKFLOWS = "waiting for the workflow service; the run starts by itself when it answers"
# A run this old without a workflow was left behind by a failed start; a younger one may be starting now.
LEFT_BEHIND = timedelta(seconds=5)
BATCH = 100

# Raises when the organisation may not begin one more run; called in the transaction that stores the run.
Admit = Callable[[Executor], Awaitable[None]]
# The same for several runs, none of which is stored yet.
AdmitRuns = Callable[[Executor, int], Awaitable[None]]
Keep = Callable[[Executor, UUID], Awaitable[None]]

log = logging.getLogger(__name__)


class Runs:
    """The use cases around a run. A run is stored before its workflow is started, so that no run is lost in between.

    Raises:
        NotFound: no such run, report or snapshot.
        Unavailable: the database does not answer.
    """

    def __init__(
        self,
        database: Database,
        gateway: RunGateway,
        systems: Sequence[SystemName] = ALL_SYSTEMS,
        admit: AdmitRuns | None = None,
        model_check: ModelCheck | None = None,
        disks: Disks | None = None,
    ) -> None:
        self._database = database
        self._gateway = gateway
        self._systems = systems
        self._admit = admit
        self._model_check = model_check
        self._disks = disks

    async def find_refusal(self) -> str:
        """Return why the language model refuses every request; empty if it does not, or there is none."""
        return await self._model_check.find_refusal() if self._model_check else ""

    @property
    def systems(self) -> Sequence[SystemName]:
        """The systems that are available here."""
        return self._systems

    async def admit(self, transaction: Executor) -> None:
        """Check that the caller may begin one more run; what `transaction` then stores counts.

        Raises:
            TooManyRequests: a quota of the organisation or the key is reached.
        """
        if self._admit is not None:
            await self._admit(transaction, 1)

    async def check(self, query: ResearchQuery, beside: Sequence[SystemName] = ()) -> None:
        """Check that `create` would begin these runs now, before anything is spent on them. Raises as `create`."""
        queries = self.list_queries(query, beside, uuid4())
        await self._require_parts()
        await resolve_collections(self._database, query)
        if self._admit is not None:
            async with self._database.acquire() as connection:
                await self._admit(connection, len(queries))

    async def create(
        self,
        query: ResearchQuery,
        notes: Sequence[str] = (),
        agreed: AgreedRubric | None = None,
        beside: Sequence[SystemName] = (),
        keep: Keep | None = None,
    ) -> Run:
        """Store a run, with its rubric if there is one, and start it.

        If the workflow service does not answer, the run stays queued, its detail says so, and `dispatch` starts it later.

        `notes` are stored first; every stage reads them. The systems `beside` work the same question on the same evidence,
        held to the same rubric, each in a run of its own. `keep` stores more about the run in the same transaction.

        Raises:
            InvalidInput: a system asked for is not available, or is named twice.
            TooManyRequests: a quota of the organisation or the key is reached; then nothing is stored.
            Conflict: the language model refuses every request; then nothing is stored.
            Unavailable: a disk is full; then nothing is stored.
        """
        run_id = uuid4()
        return (await self.create_all(self.list_queries(query, beside, run_id), notes, agreed, run_id, keep=keep))[0]

    def list_queries(self, query: ResearchQuery, beside: Sequence[SystemName], first: UUID) -> list[ResearchQuery]:
        """Return the query and one more for each system `beside` it; `first` is the id of the query's own run.

        Raises:
            InvalidInput: a system is not available, or is named twice.
        """
        if len({query.system, *beside}) != 1 + len(beside):
            raise InvalidInput("`beside` names a system twice, or the run's own; name each system once")
        queries = [query, *(query.for_system(system, first) for system in beside)]
        for each in queries:
            self._check_available(each.system)
        return queries

    async def create_all(
        self,
        queries: Sequence[ResearchQuery],
        notes: Sequence[str] = (),
        agreed: AgreedRubric | None = None,
        first_id: UUID | None = None,
        check: Admit | None = None,
        keep: Keep | None = None,
    ) -> list[Run]:
        """Store runs, all or none, and start them.

        In the transaction that stores them, `check` is called first, and `keep` last, with the id of the first run.

        Raises:
            InvalidInput, TooManyRequests, Conflict: as `create`.
        """
        for query in queries:
            self._check_available(query.system)
        await self._require_parts()
        wanted = [await resolve_collections(self._database, await self._with_default_writer(query)) for query in queries]
        ids = [first_id or uuid4(), *(uuid4() for _ in queries[1:])]
        async with self._database.acquire() as connection:
            if check is not None:
                await check(connection)
            for run_id, (query, own) in zip(ids, wanted, strict=True):
                await self._store(connection, run_id, query, own, agreed)
                for note in notes:
                    await steering.add_note(connection, run_id, note)
            if keep is not None:
                await keep(connection, ids[0])
        with forbid_repetition(f"run {ids[0]} is stored"):
            return [await self._start_stored(run_id) for run_id in ids]

    async def _require_parts(self) -> None:
        """Check, before anything is stored or paid for, that the model takes requests and the disks have room."""
        if self._disks is not None:
            await self._disks.require_room()
        if self._model_check is not None:
            await self._model_check.require_accepted()

    def _check_available(self, system: SystemName) -> None:
        if system not in self._systems:
            available = ", ".join(self._systems)
            raise InvalidInput(f"the system {system} needs a language model, and none is configured; available: {available}")

    async def _store(
        self, connection: Executor, run_id: UUID, query: ResearchQuery, own: Sequence[UUID], agreed: AgreedRubric | None
    ) -> None:
        await self.admit(connection)
        await runs.create(connection, run_id, query)
        if own:
            await collections.note_searches(connection, run_id, own)
        if query.evidence_of is not None:
            await collections.take_over_searches(connection, query.evidence_of, run_id)
        if agreed is not None:  # if the process dies here, the run's planning stage drafts a rubric
            await rubrics.add(connection, run_id, agreed.rubric, agreed.drafted)

    async def _start_stored(self, run_id: UUID) -> Run:
        try:
            await self.start(await RunLog(self._database).load(run_id))
        except Unavailable as error:
            log.warning("run %s is stored but not started: %s", run_id, error)
            await runs.note_waiting(self._database, run_id, WAITING_FOR_WORKFLOWS)
        return await self.get(run_id)

    async def _with_default_writer(self, query: ResearchQuery) -> ResearchQuery:
        """Return the query with the organisation's default writer settings, where it says nothing of its own."""
        usual = await writer_defaults.get(self._database)
        return query.model_copy(update={"writer": query.writer.over(usual)})

    async def start(self, request: ResearchInput) -> None:
        """Start a stored run's workflow; a second start changes nothing."""
        await self._gateway.start(request)
        await runs.mark_dispatched(self._database, request.run_id)

    async def dispatch(self) -> int:
        """Start the runs whose start failed; return how many were started."""
        waiting = await runs.list_undispatched(self._database, LEFT_BEHIND, BATCH)
        for run_id in waiting:
            await self.start(await RunLog(self._database).load(run_id))
        return len(waiting)

    async def get(self, run_id: UUID) -> Run:
        """Return the run as it stands."""
        run = await runs.get(self._database, run_id)
        if run is None:
            raise NotFound(f"there is no run {run_id}")
        return run

    async def list_purposes(self, run_id: UUID) -> Sequence[PurposeUsage]:
        """Return what the run's model calls used, by what they were for."""
        await self.get(run_id)
        return sum_purposes(await spending.list_by_step(self._database, run_id))

    async def list_page(self, limit: int, before: UUID | None, wanted: RunFilter = ALL) -> Sequence[Run]:
        """Return up to `limit` of the wanted runs, newest first, older than `before`.

        Raises:
            InvalidInput: there is no run `before`.
        """
        if before is not None and await runs.get(self._database, before) is None:
            raise InvalidInput(f"`before` names no run: {before}")
        if wanted == ALL:
            return await runs.list_page(self._database, limit, before)
        return await runs.find(self._database, wanted, limit, before)

    async def read_events(self, run_id: UUID, after: int, limit: int = events.PAGE) -> Sequence[LoggedEvent]:
        """Return up to `limit` events of the run's log after number `after`, in order.

        Who may not read what the run gathered gets them without its words.
        """
        found = await events.read_after(self._database, run_id, after, limit)
        return found if not found or await evidence.may_read(self._database, run_id) else evidence.withhold_words(found)

    async def require_evidence(self, run_id: UUID) -> None:
        """Check that the caller may read, now, what the run gathered: what is made of it may repeat any of it.

        Raises:
            Forbidden: it came of a collection that they may not use.
        """
        if not await evidence.may_read(self._database, run_id):
            raise Forbidden(f"run {run_id} read a collection that you may not use; its report is all that you may read of it")

    async def get_run_and_report(self, run_id: UUID, version: int | None = None) -> tuple[Run, StoredReport]:
        """Return the run with this version of its report, by default the newest."""
        return await self.get(run_id), await self.get_report(run_id, version)

    async def get_report(self, run_id: UUID, version: int | None = None) -> StoredReport:
        """Return this version of the run's report, without the run.

        Who may not read what the run gathered gets what the report says and quotes.
        """
        report = await versions.get(self._database, run_id, version)
        if report is not None:
            return report if report.readable else await asyncio.to_thread(withhold_evidence, report, await self.get(run_id))
        run = await self.get(run_id)
        if version is not None and version != DELIVERED:
            raise NotFound(f"the report of run {run_id} has no version {version}")
        raise NotFound(f"run {run_id} has no report; its status is {run.status}")

    async def get_evidence(self, run_id: UUID) -> str:
        """Return the newest version's evidence as JSON text: every citation with its exact quote and offsets."""
        return (await self.get_report(run_id)).evidence

    async def get_tape(self, run_id: UUID) -> bytes:
        """Return the results of the run's tool calls, as JSON Lines of `call` and `result`; empty before the first call.

        Raises:
            Forbidden: as `require_evidence`.
        """
        await self.get(run_id)
        await self.require_evidence(run_id)
        turns = await tapes.list_tool_turns(self._database, run_id)
        lines = (turn.model_dump_json(include={"call", "result"}, exclude_defaults=True) for turn in turns)
        return "".join(f"{line}\n" for line in lines).encode()

    async def get_snapshot(self, hash_: str) -> bytes:
        """Return the stored copy of a cited source in UTF-8; offsets of quotes count its characters."""
        body = await reports.get_snapshot(self._database, hash_)
        if body is None:
            raise NotFound(f"no source is stored under {hash_}")
        return body
