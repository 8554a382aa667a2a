"""What the stages of one run, or of runs side by side, share while they run in the same worker."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID
from weakref import WeakValueDictionary

from app.domain.chat import ToolCall, ToolResult
from app.runs.storage import tool_results
from app.runs.storage.run_log import RunLog
from workflows.durable.persistence import insist
from workflows.tools.tool_memory import ToolMemory


class PostgresToolStore:
    """The run's tool memory in PostgreSQL. Which calls it holds is read once; results stay there until one is asked for again.

    What other workers add later is met when it is to be added again.
    """

    def __init__(self, log: RunLog, run_id: UUID) -> None:
        self._log = log
        self._run_id = run_id
        self._reading: asyncio.Task[set[str]] | None = None

    async def load(self, key: str) -> ToolResult | None:
        """The stored result of this call, if any."""
        if key not in await self._keys():
            return None
        stored = await insist(lambda: tool_results.recall(self._log.executor, self._run_id, key))
        return ToolResult.of_any_version(stored) if stored is not None else None

    async def save(self, key: str, call: ToolCall, result: ToolResult) -> ToolResult:
        """Keep a result; if another worker was first, its result stays and is returned."""
        body = result.model_dump_json(exclude_defaults=True).encode()
        kept = await insist(lambda: tool_results.remember(self._log.executor, self._run_id, key, body))
        (await self._keys()).add(key)
        return result if kept == body else ToolResult.of_any_version(kept)

    async def _keys(self) -> set[str]:
        if self._reading is None:
            self._reading = asyncio.ensure_future(insist(lambda: tool_results.keys(self._log.executor, self._run_id)))
        return await asyncio.shield(self._reading)


class RunRoom:
    """How many of one run's turns are under way here, and which stages have answers in hand that are not stored yet."""

    def __init__(self) -> None:
        self._under_way = 0
        self._ended: asyncio.Event | None = None
        self._in_hand: Counter[str] = Counter()
        self._stored: asyncio.Event | None = None

    @contextmanager
    def answer(self, stage: str) -> Iterator[None]:
        """Count an answer while it is being stored."""
        self._in_hand[stage] += 1
        try:
            yield
        finally:
            self._in_hand[stage] -= 1
            if self._stored is not None:
                self._stored.set()
                self._stored = None

    async def stored(self, stages: Iterable[str]) -> None:
        """Wait until no answer to these stages is in hand here. An attempt that is to open one then finds what was paid for."""
        wanted = tuple(stages)
        while any(self._in_hand[stage] for stage in wanted):
            self._stored = self._stored or asyncio.Event()
            await self._stored.wait()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Count a turn while it is under way."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            if self._ended is not None:
                self._ended.set()
                self._ended = None

    async def another_turn_ended(self) -> bool:
        """Wait for one of the run's turns to end; False at once when none is under way."""
        if not self._under_way:
            return False
        self._ended = self._ended or asyncio.Event()
        await self._ended.wait()
        return True


class Rooms:
    """The rooms and tool memories of a worker's runs. Each lasts as long as a stage of its run uses it.

    Runs that stand side by side have one tool memory: a call that several of them make is made once, and brings all the same.
    """

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._rooms: WeakValueDictionary[UUID, RunRoom] = WeakValueDictionary()
        self._memories: WeakValueDictionary[UUID, ToolMemory] = WeakValueDictionary()

    def of(self, run_id: UUID) -> RunRoom:
        """The run's room. Keep the reference while it is needed."""
        room = self._rooms.get(run_id)
        if room is None:
            room = self._rooms[run_id] = RunRoom()
        return room

    def memory_of(self, run_id: UUID) -> ToolMemory:
        """The tool memory that this run owns. Keep the reference while it is needed."""
        memory = self._memories.get(run_id)
        if memory is None:
            memory = self._memories[run_id] = ToolMemory(PostgresToolStore(self._log, run_id))
        return memory
