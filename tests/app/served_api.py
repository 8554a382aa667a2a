"""The workflow service in memory, and a client of the API over a real socket."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import aiohttp
import orjson

from app.accounts.nouns.api_key import ApiKey
from app.domain.budget import Usage
from app.domain.contract import (
    ClarifyingQuestion,
    Draft,
    DraftKind,
    DraftRequest,
    PlanRevision,
    ResearchInput,
    SubtaskAddition,
    SubtaskRemoval,
)
from app.domain.errors import NotFound, Unavailable
from app.domain.plan import ResearchPlan
from app.domain.run import EventType, RunStatus
from app.http.asgi import create_app
from app.http.patient_protocol import Patience
from app.http.server import Server, bind
from app.http.services import Services
from app.runs.storage.run_log import RunLog
from tests.support.accounts import HOME_KEY
from workflows.judging.general_rubric import make_general_rubric


@dataclass
class InMemoryRuns:
    """A stand-in for the workflow service: it changes a run's record as its workflow would.

    `away` plays an outage of the workflow service; `slow_s` is how long it takes to start a run; with `unheard` it starts the
    run, but its answer comes too late.
    """

    log: RunLog
    away: bool = False
    slow_s: float = 0
    unheard: bool = False
    started: list[ResearchInput] = field(default_factory=list)
    open: set[UUID] = field(default_factory=set)
    tasks: list[tuple[UUID, UUID]] = field(default_factory=list)

    async def start(self, request: ResearchInput) -> None:
        await asyncio.sleep(self.slow_s)
        await self.check()
        if request.run_id not in self.open:
            self.started.append(request)
            self.open.add(request.run_id)
            await self.log.set_status(request.run_id, RunStatus.RUNNING)
        if self.unheard:
            raise Unavailable("the workflow service does not answer in time")

    async def start_task(self, run_id: UUID, task_id: UUID) -> None:
        await self.check()
        if (run_id, task_id) not in self.tasks:  # one that waited long is started again
            self.tasks.append((run_id, task_id))

    async def pause(self, run_id: UUID) -> None:
        await self._set_status(run_id, RunStatus.PAUSED)

    async def resume(self, run_id: UUID, finish: bool) -> None:
        await self._set_status(run_id, RunStatus.RUNNING, "finishing" if finish else "")

    async def approve(self, run_id: UUID) -> None:
        await self._set_status(run_id, RunStatus.RUNNING)

    async def cancel(self, run_id: UUID) -> None:
        await self._set_status(run_id, RunStatus.CANCELLED)
        self.open.discard(run_id)

    async def revise_plan(self, run_id: UUID, revision: PlanRevision) -> ResearchPlan:
        plan = await self._load_plan(run_id)
        return await self._save(run_id, revision.plan.model_copy(update={"revision": plan.revision + 1}))

    async def add_subtask(self, run_id: UUID, addition: SubtaskAddition) -> ResearchPlan:
        plan = await self._load_plan(run_id)
        return await self._save(run_id, ResearchPlan(subtasks=(*plan.subtasks, addition.subtask), revision=plan.revision + 1))

    async def drop_subtask(self, run_id: UUID, removal: SubtaskRemoval) -> ResearchPlan:
        plan = await self._load_plan(run_id)
        remaining = tuple(subtask for subtask in plan.subtasks if subtask.id != removal.subtask_id)
        return await self._save(run_id, ResearchPlan(subtasks=remaining, revision=plan.revision + 1))

    async def draft(self, request: DraftRequest) -> Draft:
        await self.check()
        if request.kind is DraftKind.CLARIFICATION:
            return Draft(questions=(ClarifyingQuestion(question="Which country?"),), model="stub", usage=Usage(model_calls=1))
        return Draft(rubric=make_general_rubric(request.query), usage=Usage(model_calls=1, input_tokens=9))

    async def check(self) -> None:
        if self.away:
            raise Unavailable("the workflow service does not answer")

    async def check_workers(self) -> str:
        await self.check()
        return ""

    async def _set_status(self, run_id: UUID, status: RunStatus, detail: str = "") -> None:
        await self.check()
        if run_id not in self.open:
            raise NotFound("no workflow of this run is open")
        await self.log.set_status(run_id, status, detail)

    async def _load_plan(self, run_id: UUID) -> ResearchPlan:
        plan = (await self.log.load(run_id)).plan
        assert plan is not None
        return plan

    async def _save(self, run_id: UUID, plan: ResearchPlan) -> ResearchPlan:
        await self.log.save_plan(run_id, plan, (), EventType.PLAN_REVISED)
        return plan


@dataclass(frozen=True)
class ApiReply:
    """A whole response."""

    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    def is_problem(self, status: int) -> bool:
        """Tell whether this is an RFC 9457 problem of this status that says what it is about."""
        problem = self.json
        named = (
            problem["status"] == status == self.status and problem["title"] and problem["type"].startswith("urn:rubrica:problem:")
        )
        return bool(named) and bool(problem["detail"]) and self.headers["Content-Type"].startswith("application/problem+json")


@dataclass
class ApiClient:
    """A client that speaks HTTP to a running API."""

    session: aiohttp.ClientSession
    address: str

    async def send(self, method: str, path: str, **options: Any) -> ApiReply:
        async with self.session.request(method, self.address + path, **options) as response:
            return ApiReply(response.status, response.headers, await response.read())

    async def get(self, path: str, **options: Any) -> ApiReply:
        return await self.send("GET", path, **options)

    async def post(self, path: str, json: Any = None, **options: Any) -> ApiReply:
        return await self.send("POST", path, json=json, **options)

    async def put(self, path: str, json: Any) -> ApiReply:
        return await self.send("PUT", path, json=json)

    async def ask(self, question: str = "Who wrote it?", **options: Any) -> str:
        """Create a run; return its id."""
        reply = await self.post("/v1/runs", {"question": question, **options})
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    async def events(self, run_id: str, after: int = 0, headers: dict[str, str] | None = None) -> AsyncIterator[dict[str, Any]]:
        """Yield the events of a run as they come, until the server ends the stream."""
        url = f"{self.address}/v1/runs/{run_id}/events?after={after}"
        async with self.session.get(url, headers=headers) as response:
            assert response.status == 200
            assert response.headers["Content-Type"].startswith("text/event-stream")
            async for line in response.content:
                if line.startswith(b"data: "):
                    yield orjson.loads(line[6:])


@contextlib.asynccontextmanager
async def serve_api(
    services: Services,
    key: ApiKey = HOME_KEY,
    origins: Collection[str] = (),
    proxies: Sequence[str] = (),
    patience: Patience | None = None,
) -> AsyncIterator[ApiClient]:
    """Serve the API on a free port, as `python -m app.http` does; yield a client with this key."""
    with bind("127.0.0.1", 0) as listening:
        server = Server(create_app(services, origins=origins), services, proxies, patience)
        task = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"}) as session:
            yield ApiClient(session, f"http://127.0.0.1:{listening.getsockname()[1]}")
            server.should_exit = True
            await task
