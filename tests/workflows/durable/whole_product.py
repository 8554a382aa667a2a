"""A whole product in a test: real PostgreSQL and Temporal, the use cases the API calls, and workers with toy agents."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import orjson
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from app.domain.budget import Budget
from app.domain.contract import workflow_id
from app.domain.query import Effort, ResearchQuery
from app.domain.run import EventType, Run, RunStatus
from app.domain.served_models import ServedModel
from app.runs.service.runs import Runs
from app.runs.service.steering import Steering
from app.runs.service.temporal_gateway import TemporalGateway
from app.runs.storage import events
from tests.workflows.durable.toys import ToyIndex, ToyModel, make_quoting_toys, make_toy_agents
from workflows.agents.agent_set import AgentSet
from workflows.agents.codec import SchemaCodec
from workflows.agents.ports import ChatModel
from workflows.chat_models.served_book import OpenModel, ServedModels
from workflows.durable.reconcile import Reconciler
from workflows.durable.worker import run_worker
from workflows.durable.workshop import Workshop
from workflows.prompts.library import PromptLibrary

PROMPTS = PromptLibrary({})
# A change of a plan is answered by a worker, which on a busy machine takes longer than the product waits.
PATIENCE = timedelta(minutes=8)
SCHEDULED = "activity_task_scheduled_event_attributes"


@dataclass
class WholeProduct:
    """A database, a Temporal server, and the use cases of a reader."""

    database: asyncpg.Pool
    client: Client
    address: str
    model: ToyModel = field(default_factory=ToyModel)
    index: ToyIndex = field(default_factory=ToyIndex)

    def __post_init__(self) -> None:
        self.gateway = TemporalGateway(self.address, PATIENCE)
        self.runs = Runs(self.database, self.gateway)
        self.steering = Steering(self.database, self.gateway, self.runs)

    def make_workshop(
        self,
        agents: AgentSet | None = None,
        fallback: AgentSet | None = None,
        chat: ChatModel | None = None,
        prompts: PromptLibrary | None = None,
        others: Sequence[ChatModel] = (),
        **parts: Any,
    ) -> Workshop:
        """Make a workshop over a model; `others` are further models that it knows by name."""
        main = OpenModel(chat or self.model, SchemaCodec(), prompts or PROMPTS, agents or make_toy_agents())
        known = {other.name: ServedModel(name=other.name, address="http://127.0.0.1:9/v1") for other in others}

        async def find(name: str) -> ServedModel | None:
            return known.get(name)

        return Workshop(
            database=self.database,
            index=self.index,
            models=ServedModels(main, find, others={other.name: replace(main, chat=other) for other in others}),
            fallback=fallback or make_quoting_toys(),
            **parts,
        )

    @contextlib.asynccontextmanager
    async def start_worker(
        self, agents: AgentSet | None = None, build: str | None = None, **parts: Any
    ) -> AsyncIterator[Workshop]:
        """Run a worker of its own version, until the end of the block."""
        shop = self.make_workshop(agents, **parts)
        async with run_worker(self.client, shop, build or f"test-{uuid4().hex[:8]}"):
            yield shop

    async def ask(
        self, question: str = "why tariffs?", budget: Budget | None = None, effort: Effort = Effort.STANDARD, **options: Any
    ) -> UUID:
        query = ResearchQuery(question=question, budget=budget or Budget(), effort=effort, **options)
        made = await self.runs.create(query)
        return UUID(str(made.id))

    async def get_run(self, run_id: UUID) -> Run:
        return await self.runs.get(run_id)

    async def wait_for(self, run_id: UUID, *statuses: RunStatus) -> Run:
        """Wait for one of these statuses; a run that ended otherwise fails the test."""
        while (run := await self.get_run(run_id)).status not in statuses:
            assert not run.status.finished, f"{run.status}: {run.detail}"
            await asyncio.sleep(0.05)
        return run

    async def wait_until(self, check: Callable[[], bool]) -> None:
        while not check():
            await asyncio.sleep(0.02)

    async def list_events(self, run_id: UUID, kind: EventType | None = None) -> list[dict[str, Any]]:
        logged = await events.read_after(self.database, run_id, 0)
        return [orjson.loads(event.body) for event in logged if kind is None or event.type == kind]

    async def list_statuses(self, run_id: UUID) -> list[str]:
        return [event["payload"]["status"] for event in await self.list_events(run_id, EventType.STATUS_CHANGED)]

    async def list_activities(self, run_id: UUID) -> list[str]:
        """Return the activities that the run's latest workflow scheduled, in order."""
        history = await self.read_history(run_id)
        begun = (e.activity_task_scheduled_event_attributes for e in history if e.HasField(SCHEDULED))
        return [attributes.activity_type.name for attributes in begun]

    async def read_history(self, run_id: UUID) -> Sequence[HistoryEvent]:
        """Return the events of the run's latest workflow, as Temporal keeps them."""
        return (await self.client.get_workflow_handle(workflow_id(run_id)).fetch_history()).events

    async def read_report_markdown(self, run_id: UUID) -> str:
        return (await self.runs.get_run_and_report(run_id))[1].markdown

    def make_reconciler(self, build: str = "none") -> Reconciler:
        return Reconciler(self.client, self.database, build)
