"""The record of a batch of judging: calls run side by side up to a limit, and what was answered once is never asked again.

Answers are kept by what was asked, of which model: in memory, or in a file, from which a batch that was cut off goes on.
"""

import asyncio
import sqlite3
from asyncio import Future, Task
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, Completion, ToolCall, ToolResult
from app.domain.errors import ModelRefused, ModelUnavailable
from app.domain.run import EventType
from app.domain.trajectory import request_digest
from workflows.agents.ports import ChatModel, Tool

TABLE = "CREATE TABLE IF NOT EXISTS answers (asked TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"
KEEP = "INSERT OR REPLACE INTO answers VALUES (?, ?)"
FIND = "SELECT answer FROM answers WHERE asked = ?"


class KeptAnswers:
    """Answers by the digest of what was asked. Without a path they live as long as the object."""

    def __init__(self, path: Path | None = None) -> None:
        self._held: dict[str, Completion] = {}
        self._file = sqlite3.connect(path, isolation_level=None) if path else None
        if self._file:
            self._file.execute(TABLE)

    def get(self, asked: str) -> Completion | None:
        """The answer, if it was kept."""
        if self._file is None:
            return self._held.get(asked)
        row = self._file.execute(FIND, (asked,)).fetchone()
        return Completion.of_any_version(row[0]) if row else None

    def put(self, asked: str, answer: Completion) -> None:
        """Keep an answer."""
        if self._file is None:
            self._held[asked] = answer
        else:
            self._file.execute(KEEP, (asked, answer.model_dump_json()))

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()


class Call(NamedTuple):
    """A call to be made: its digest, whom to ask, and what."""

    asked: str
    model: ChatModel
    request: ChatRequest


class BatchRecord:
    """A `Record` for judges: at most `at_once` calls under way. `usage` is what was spent, `saved` the calls that were not made.

    Each of so many workers goes from one call straight to the next, so that the judge is not kept waiting for the event loop, and
    a call costs no task. An outage is waited out `attempts` times, for as long as the server asks or twice as long each time;
    then the call fails.
    """

    def __init__(
        self,
        kept: KeptAnswers,
        at_once: int,
        attempts: int = 4,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._kept = kept
        self._at_once = at_once
        self._attempts = attempts
        self._pause = pause
        self._waiting: deque[Call] = deque()
        self._askers: dict[str, list[Future[Completion]]] = {}
        self._workers: set[Task[Any] | None] = set()
        self.usage = Usage()
        self.saved = 0

    async def ask(self, agent: str, step: str, model: ChatModel, request: ChatRequest) -> Completion:
        """The kept answer to exactly this request, that of the same call under way, or a new one.

        Raises:
            ModelRefused: the model refuses, or stayed away.
        """
        asked = request_digest(request, model.name)
        if (answer := self._kept.get(asked)) is not None:
            self.saved += 1
            return answer
        asker: Future[Completion] = asyncio.get_running_loop().create_future()
        if (askers := self._askers.get(asked)) is not None:
            self.saved += 1
            askers.append(asker)
        else:
            self._askers[asked] = [asker]
            self._begin(Call(asked, model, request))
        return await asker

    async def use(self, agent: str, tool: Tool, call: ToolCall) -> ToolResult:
        """Judges use no tools."""
        raise NotImplementedError("a judge has no tools")

    async def tell(self, event: EventType, agent: str, payload: Mapping[str, Any]) -> None:
        """Nobody watches."""

    def _begin(self, call: Call) -> None:
        self._waiting.append(call)
        if len(self._workers) < self._at_once:
            self._workers.add(asyncio.ensure_future(self._work()))

    async def _work(self) -> None:
        """Make calls until none waits."""
        try:
            while self._waiting:
                await self._make(self._waiting.popleft())
        finally:
            self._workers -= {asyncio.current_task()}

    async def _make(self, call: Call) -> None:
        """Make a call, and tell all who asked for it and have not given up since."""
        try:
            answer = await self._patiently(call.model, call.request)
            self.usage += answer.usage
            self._kept.put(call.asked, answer)
        except BaseException as failed:
            for asker in self._left(call):
                asker.set_exception(failed)
            if not isinstance(failed, Exception):
                raise
        else:
            for asker in self._left(call):
                asker.set_result(answer)

    def _left(self, call: Call) -> list[Future[Completion]]:
        return [asker for asker in self._askers.pop(call.asked) if not asker.done()]

    async def _patiently(self, model: ChatModel, request: ChatRequest) -> Completion:
        for attempt in range(self._attempts):
            try:
                return await model.complete(request)
            except ModelUnavailable as away:
                last = away
                await self._pause(away.retry_after.total_seconds() if away.retry_after else 2.0**attempt)
        raise ModelRefused(f"the judge stayed away: {last}")
