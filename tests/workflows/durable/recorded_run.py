"""A run on whose record tests work, and a hook that makes its model slow."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import asyncpg

from app.domain.budget import Budget, Usage
from app.domain.contract import Halt
from app.domain.errors import ToolError
from app.domain.query import ResearchQuery
from app.runs.storage import events, runs, steering
from app.runs.storage.run_log import NOTHING, RunLog
from tests.support.stage_opening import open_stage
from workflows.chat_models.endpoint import ModelPrices
from workflows.durable.outage import ServerCircuit
from workflows.durable.recording import DurableRecord
from workflows.durable.run_rooms import RunRoom, RunRooms
from workflows.durable.silence import USUAL_PATIENCE, SilencePolicy
from workflows.durable.stage_ledger import StageLedger


@dataclass
class RecordedRun:
    """A run whose stages can be opened again and again."""

    database: asyncpg.Pool
    run_id: UUID = field(default_factory=uuid4)
    prices: ModelPrices = field(default_factory=ModelPrices)
    stopping: bool = False

    @property
    def log(self) -> RunLog:
        return RunLog(self.database)

    async def begin(self, budget: Budget | None = None) -> "RecordedRun":
        await runs.create(self.database, self.run_id, ResearchQuery(question="why?", budget=budget or Budget()))
        return self

    async def open_record(
        self,
        stage: str = "search/s1",
        room: RunRoom | None = None,
        log: RunLog | None = None,
        finish: bool = False,
        silence: SilencePolicy = USUAL_PATIENCE,
    ) -> DurableRecord:
        opening = await open_stage(self.log, self.run_id, stage, NOTHING)
        ledger = StageLedger(
            log or self.log,
            self.run_id,
            stage,
            opening.attempt,
            room or RunRooms(self.log).room_of(self.run_id),
            lambda _: self.prices,
            lambda: self.stopping,
            halt=opening.halt,
            finish=finish,
        )
        circuits = defaultdict(ServerCircuit)
        return DurableRecord(ledger, opening.turns, circuits.__getitem__, ServerCircuit(refusal=ToolError), lambda _: silence)

    async def set_halt(self, halt: Halt) -> None:
        await steering.set_control(self.database, self.run_id, halt, replacing=tuple(Halt))

    async def list_event_types(self) -> list[str]:
        return [event.type for event in await events.read_after(self.database, self.run_id, 0)]

    async def read_usage(self) -> Usage:
        run = await runs.get(self.database, self.run_id)
        assert run is not None
        return run.usage


async def answer_slowly(_: str) -> None:
    await asyncio.sleep(0.02)
