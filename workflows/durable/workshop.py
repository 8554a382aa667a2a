"""The parts that all stages of a worker share, and one attempt at a stage from opening to result."""

import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias
from uuid import UUID

import asyncpg

from app.accounts.service.policy import NO_LIMITS
from app.database.engine import translate_outages
from app.domain.address import host_of
from app.domain.errors import NotFound, ToolError
from app.domain.evidence import Finding, Quote
from app.domain.limits import Quota
from app.domain.options import SearchScope, SourceKind
from app.domain.query import ResearchQuery, SystemName
from app.domain.served_models import SETTINGS_MODEL, ModelRole, RoleModels
from app.models.artifacts.folder import FolderArtifacts
from app.models.artifacts.ports import ArtifactStore
from app.outgoing.mail import Mailbox
from app.outside_calls.storage import OutsideCallStore
from app.runs.storage.run_log import NOTHING, Reservation, RunLog, SourceSnapshot
from app.runs.storage.stage_openings import StageOpening
from app.settings import ClaimGrader
from retrieval.ports import PageReader
from retrieval.search.tenant_index import TenantView
from retrieval.service.client import IndexClient
from workflows.agents.agent_set import AgentSet
from workflows.agents.codec import speak_as_asked
from workflows.agents.effort import bounds_of, fit_bounds, limits_of
from workflows.agents.kit import Kit
from workflows.agents.memory import MemoryEntry, MemoryKind, SharedMemory
from workflows.agents.ports import Record
from workflows.chat_models.served_book import OpenModel, ServedModels
from workflows.durable.allowance import reserve_first_call
from workflows.durable.failures import make_stopping_failure
from workflows.durable.known_sources import KnownSources
from workflows.durable.outage import ServerCircuit
from workflows.durable.payloads import StageRequest
from workflows.durable.persistence import persist
from workflows.durable.recording import DurableRecord
from workflows.durable.retraining.processes import LocalProcesses, StepProcesses
from workflows.durable.run_rooms import RunRooms
from workflows.durable.silence import USUAL_PATIENCE, SilencePolicy
from workflows.durable.stage_ledger import StageLedger
from workflows.systems.agent_sets import AGENTS
from workflows.tools.toolbox import (
    NO_OUTSIDE_TOOLS,
    OutsideTools,
    build_describer,
    build_toolbox,
    build_whole_reader,
    corpora_of_query,
)

USER = "user"
REPORT_STAGE = "report"
RunModels: TypeAlias = Mapping[ModelRole, OpenModel]


@dataclass
class Workshop:
    """The parts that all stages of a worker share. `asks_a_model` is false where the agents need no model and no reservation.

    `reader` turns a run's view of the index into a page reader; by default it is the index alone. `outside_tools` is what tools
    may use outside the index; `outside_calls` is what all workers share of the calls there. `scientific` names the collections of
    papers. `fallback` are the agents that need no model; `build` is the program's version in the lineage of reports; `most` is
    the most that an organisation may use; `silence` says how long a model may be silent. Cycles of retraining have their folders
    in `loop`, train with the interpreter `train_python` by `step_processes`, and keep models in `artifacts`.
    """

    database: asyncpg.Pool
    index: IndexClient
    models: ServedModels
    fallback: AgentSet
    asks_a_model: bool = True
    reader: Callable[[PageReader], PageReader] = lambda stored: stored
    outside_tools: OutsideTools = NO_OUTSIDE_TOOLS
    judge: ClaimGrader = ClaimGrader.OFFLINE
    scientific: tuple[str, ...] = ()
    mailbox: Mailbox | None = None
    build: str = ""
    most: Quota = NO_LIMITS
    silence: SilencePolicy = USUAL_PATIENCE
    loop: Path = Path("loop")
    artifacts: ArtifactStore = field(default_factory=lambda: FolderArtifacts(Path("artifacts")))
    train_python: str = sys.executable
    step_processes: StepProcesses = field(default_factory=LocalProcesses)
    log: RunLog = field(init=False)
    outside_calls: OutsideCallStore = field(init=False)
    stored_sources: KnownSources = field(default_factory=KnownSources, init=False)
    rooms: RunRooms = field(init=False)
    model_circuits: defaultdict[str, ServerCircuit] = field(init=False)
    index_circuit: ServerCircuit = field(init=False)

    def __post_init__(self) -> None:
        self.log = RunLog(self.database)
        self.outside_calls = OutsideCallStore(self.database)
        self.rooms = RunRooms(self.log)
        self.model_circuits = defaultdict(ServerCircuit)
        self.index_circuit = ServerCircuit(refusal=ToolError)

    async def open_models(self, query: ResearchQuery) -> RunModels:
        """Return the models of a run's roles, which were fixed when it was created. Without a model it is a stand-in."""
        names = query.models if self.asks_a_model else SETTINGS_MODEL
        return {role: await self.models.open(names.of(role)) for role in ModelRole}

    def agents_of(self, query: ResearchQuery, model: OpenModel) -> AgentSet:
        """Return the agents of the query's system for a model. Without a model there is only one set."""
        other = self.asks_a_model and query.system is not SystemName.MINDDR
        return AGENTS[query.system] if other else model.agents

    def silence_of(self, name: str) -> SilencePolicy:
        """Return how long this model may be silent: longer where its server is on this machine."""
        return replace(self.silence, on_this_machine=self.models.find_known(name).on_this_machine)

    def reserve_first(self, finish: bool) -> Reservation | None:
        """Return the reservation of a stage that opens; None if it spends nothing and so may always run."""
        if finish:
            return None
        return reserve_first_call(self.models.main.prices) if self.asks_a_model else NOTHING

    def view_index(self, query: ResearchQuery) -> TenantView:
        """Return the index as the organisation that asks sees it. What several collections have is read from the query's."""
        return TenantView(self.index, query.tenant or None, query.searched or query.collections)

    def make_reader(self, scope: SearchScope | None, index: PageReader) -> PageReader:
        """Return the page reader of a run: `index` alone if the run searches neither the web nor papers outside."""
        outside = scope is None or scope.searches(SourceKind.WEB) or scope.searches(SourceKind.SCHOLAR)
        return self.reader(index) if outside else index

    def make_kit(
        self,
        query: ResearchQuery,
        run_id: UUID,
        model: OpenModel,
        record: Record,
        today: date,
        clock: Callable[[], float],
        memory: SharedMemory,
        scope: SearchScope | None = None,
    ) -> Kit:
        """Return everything that an agent over this model may use for a run. `scope` replaces the query's."""
        index, scope = self.view_index(query), scope or query.scope
        memory_of_tools = self.rooms.memory_of(query.evidence_of or run_id)
        corpora, outside = corpora_of_query(query, self.scientific), self.outside_tools
        bounds = fit_bounds(bounds_of(query), model.context_tokens, query.language)
        reader = self.make_reader(scope, index)
        return Kit(
            chat=model.chat,
            tools=build_toolbox(index, reader, corpora, memory_of_tools, outside, scope, self.asks_a_model),
            whole=build_whole_reader(index, corpora, memory_of_tools, bounds.evidence_chars, outside, scope),
            shelves=build_describer(index, corpora, memory_of_tools, query.language, outside, scope),
            record=record,
            prompts=model.prompts,
            codec=speak_as_asked(model.codec, query),
            today=today,
            clock=clock,
            limits=limits_of(query),
            bounds=bounds,
            memory=memory,
            language=query.language,
        )


@dataclass
class StageAttempt:
    """One attempt at an open stage, with the models of its run's roles."""

    shop: Workshop
    request: StageRequest
    stage: str
    title: str
    opening: StageOpening
    ledger: StageLedger
    record: DurableRecord
    models: RunModels

    @property
    def model_names(self) -> RoleModels:
        """The names of the models of the run's roles."""
        return RoleModels(**{role.value: model.name for role, model in self.models.items()})

    @property
    def notes(self) -> SharedMemory:
        """The reader's notes at the time when the stage first opened."""
        return make_notes(self.opening.notes)

    @property
    def index(self) -> TenantView:
        """The index as this run's organisation sees it."""
        return self.shop.view_index(self.request.query)

    def make_kit(self, memory: SharedMemory, model: OpenModel, scope: SearchScope | None = None) -> Kit:
        """Return everything that an agent over this model may use in this stage. `scope` replaces the query's."""
        run, record, today = self.request, self.record, self.opening.asked_on
        return self.shop.make_kit(run.query, run.run_id, model, record, today, record.read_clock, memory, scope)

    @cached_property
    def needed_findings(self) -> tuple[Finding, ...]:
        """The findings this stage builds on, in the order of the plan."""
        found = tuple(Finding.of_any_version(body) for body in self.opening.needed if body is not None)
        self.opening.needed.clear()  # a third of what a run has in memory while its report is written
        return found

    async def find_missing_snapshots(self, hashes: list[str]) -> frozenset[str]:
        """Return the sources that are not stored yet. Public copies stay stored for a while; own documents may go at once."""
        unknown = hashes if self.request.query.tenant else self.shop.stored_sources.list_unknown(hashes)
        missing = await persist(lambda: self.shop.log.missing_snapshots(unknown)) if unknown else frozenset()
        self.shop.stored_sources.note(name for name in unknown if name not in missing)
        return missing

    async def fetch_snapshot(self, name: str) -> str:
        """Return a source's text from the index, or from the pages read outside. Wait while the index is away."""
        try:
            return await self.record.call_index(self.stage, "source", lambda: self.index.get_snapshot(name))
        except NotFound:
            return await persist(lambda: self.shop.outside_calls.text(name))

    async def close(self, outcome: "StageOutcome", also: Callable[[RunLog], Awaitable[object]] | None = None) -> None:
        """Store the stage's result, and in the same transaction everything that `also` writes.

        Raises:
            RunHalted, WorkerStopping: the agent was told to stop, so what it returned is no result.
            ApplicationError: another attempt has closed the stage; the next one finds its result.
        """
        if self.ledger.stopped is not None:
            raise self.ledger.stopped
        await persist(lambda: self._close_with(outcome, also) if also else self._close_stage(self.shop.log, outcome))

    async def _close_with(self, outcome: "StageOutcome", also: Callable[[RunLog], Awaitable[object]]) -> None:
        async with translate_outages(), self.shop.database.acquire() as connection, connection.transaction():
            run_log = RunLog(connection)
            await self._close_stage(run_log, outcome)
            await also(run_log)

    async def _close_stage(self, run_log: RunLog, outcome: "StageOutcome") -> None:
        told = {"stage": self.stage, "title": self.title, "usage": self.record.usage.model_dump(), **outcome.told}
        if self.record.refused:
            told["refused"] = sorted(self.record.refused)
        run, attempt, sources = self.request.run_id, self.opening.attempt, [quote.source for quote in outcome.cites]
        hashes = frozenset(source.snapshot for source in sources)
        # What is on no website may be an own document.
        open_hashes = frozenset(source.snapshot for source in sources if host_of(source.url))
        kept = (outcome.snapshots, told, hashes, open_hashes)
        if not await run_log.close_stage(run, self.stage, attempt, outcome.result, *kept):
            raise make_stopping_failure()


def make_notes(texts: Iterable[str]) -> SharedMemory:
    """Return a reader's notes as agents read them."""
    return SharedMemory(entries=tuple(MemoryEntry(agent=USER, kind=MemoryKind.NOTE, text=text) for text in texts))


@dataclass(frozen=True)
class StageOutcome:
    """A stage's stored result, the payload of `stage_finished`, the copies to store with it, and the quotes that it cites."""

    result: bytes
    told: Mapping[str, Any]
    snapshots: Sequence[SourceSnapshot] = ()
    cites: Sequence[Quote] = ()
