"""State that the stages of a run share while they run in the same worker."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias
from uuid import UUID
from weakref import WeakValueDictionary

from app.domain.chat import ChatRequest, Completion, ToolResult
from app.domain.contract import Halt
from app.runs.storage import tool_results
from app.runs.storage.run_log import RunLog
from workflows.agents.ports import ChatModel
from workflows.chat_models.call_watch import CallWatch
from workflows.durable.persistence import persist
from workflows.tools.tool_memory import ToolMemory


class PostgresToolStore:
    """The run's tool memory in PostgreSQL. The keys of its calls are read once; a result is read when it is needed.

    A result that another worker adds later is found when the same call is to be saved here.
    """

    def __init__(self, log: RunLog, run_id: UUID) -> None:
        self._log = log
        self._run_id = run_id
        self._reading: asyncio.Task[set[str]] | None = None

    async def load(self, key: str) -> ToolResult | None:
        """Return the stored result of this call, if any."""
        if key not in await self._known_keys():
            return None
        stored = await persist(lambda: tool_results.recall(self._log.executor, self._run_id, key))
        return ToolResult.of_any_version(stored) if stored is not None else None

    async def save(self, key: str, result: ToolResult) -> ToolResult:
        """Store a result and return it; if another worker was first, return that worker's result."""
        body = result.model_dump_json(exclude_defaults=True).encode()
        kept = await persist(lambda: tool_results.remember(self._log.executor, self._run_id, key, body))
        (await self._known_keys()).add(key)
        return result if kept is body else ToolResult.of_any_version(kept)

    async def _known_keys(self) -> set[str]:
        if self._reading is None:
            self._reading = asyncio.ensure_future(persist(lambda: tool_results.list_keys(self._log.executor, self._run_id)))
        return await asyncio.shield(self._reading)


CallKey: TypeAlias = tuple[str, str, int, str]
"""The stage, the agent, the number and the digest of a request."""


@dataclass
class SharedCall:
    """A call of a model. Its answer belongs to the attempt that asked for it last.

    `taken_over`: another attempt asked for it first. `billed`: that attempt stored the answer too late, so that it was billed and
    not recorded.
    """

    answer: "asyncio.Task[Completion]"
    watch: CallWatch
    owner: object
    taken_over: bool = False
    billed: bool = False


class RunRoom:
    """What one run has under way in this worker: turns, answers of each stage that are not stored yet, and calls of models."""

    def __init__(self) -> None:
        self._calls: dict[CallKey, SharedCall] = {}
        self._kept: set[asyncio.Task[None]] = set()
        self._under_way = 0
        self._ended: asyncio.Event | None = None
        self._in_hand: Counter[str] = Counter()
        self._stored: asyncio.Event | None = None
        self._wish: asyncio.Task[Halt | None] | None = None
        self._asked_at = 0.0

    @contextmanager
    def count_answer(self, stage: str) -> Iterator[None]:
        """Count an answer while it is being stored."""
        self._in_hand[stage] += 1
        try:
            yield
        finally:
            self._in_hand[stage] -= 1
            if self._stored is not None:
                self._stored.set()
                self._stored = None

    async def wait_until_stored(self, stages: Iterable[str]) -> None:
        """Wait until all answers of these stages are stored, so that a new attempt at one of them finds what was paid for."""
        wanted = tuple(stages)
        while any(self._in_hand[stage] for stage in wanted):
            self._stored = self._stored or asyncio.Event()
            await self._stored.wait()

    def share_call(self, key: CallKey, watch: CallWatch, model: ChatModel, request: ChatRequest, owner: object) -> SharedCall:
        """Make a call, or take over the same call of a replaced attempt: one in flight, or one whose answer was not recorded."""
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = SharedCall(asyncio.create_task(watch.complete(model, request)), watch, owner)
            call.answer.add_done_callback(lambda answer: self._forget_failure(key, answer))
        call.taken_over = call.taken_over or call.owner is not owner
        call.owner = owner
        return call

    async def is_billed(self, key: CallKey) -> bool:
        """Return whether a replaced attempt has billed this call's answer, once what it stores is stored."""
        call = self._calls.get(key)
        if call is not None and call.taken_over:
            await self.wait_until_stored((key[0],))
        return call is not None and call.billed

    def end_call(self, key: CallKey, recorded: bool) -> None:
        """Forget a call whose answer is recorded. Keep one that was only billed, for the attempt that asks for it again."""
        call = self._calls.pop(key, None)
        if call is not None and not recorded:
            call.billed = True
            self._calls[key] = call

    def _forget_failure(self, key: CallKey, answer: "asyncio.Task[Completion]") -> None:
        if answer.cancelled() or answer.exception() is not None:
            self._calls.pop(key, None)

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Do some work that no stage waits for."""
        task = asyncio.create_task(work)
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)

    async def find_wish(self, ask: Callable[[], Coroutine[Any, Any, Halt | None]], oldest: timedelta) -> Halt | None:
        """Return what `ask` says of the run. The stages share one answer while it is not older than `oldest`."""
        now = time.monotonic()
        if self._wish is None or now - self._asked_at >= oldest.total_seconds():
            self._asked_at, self._wish = now, asyncio.create_task(ask())
        return await asyncio.shield(self._wish)  # a stage that ends takes the answer from no other

    @contextmanager
    def count_turn(self) -> Iterator[None]:
        """Count a turn while it is under way."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            if self._ended is not None:
                self._ended.set()
                self._ended = None

    async def wait_for_turn_end(self) -> bool:
        """Wait for one of the run's turns to end; return False at once when none is under way."""
        if not self._under_way:
            return False
        self._ended = self._ended or asyncio.Event()
        await self._ended.wait()
        return True


class RunRooms:
    """The rooms and tool memories of a worker's runs. Each lasts while a stage of its run uses it.

    Runs that are compared with each other share one tool memory: a call that several make is made once, with one result for all.
    """

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._rooms: WeakValueDictionary[UUID, RunRoom] = WeakValueDictionary()
        self._memories: WeakValueDictionary[UUID, ToolMemory] = WeakValueDictionary()

    def room_of(self, run_id: UUID) -> RunRoom:
        """Return the run's room. Keep the reference while it is needed."""
        room = self._rooms.get(run_id)
        if room is None:
            room = self._rooms[run_id] = RunRoom()
        return room

    def memory_of(self, run_id: UUID) -> ToolMemory:
        """Return the tool memory that this run owns. Keep the reference while it is needed."""
        memory = self._memories.get(run_id)
        if memory is None:
            memory = self._memories[run_id] = ToolMemory(PostgresToolStore(self._log, run_id))
        return memory
