"""The record of a batch of judging: calls run in parallel up to a limit, and no request is asked twice.

Answers are stored by request and model, in memory or in a file. An interrupted batch continues from the file.
"""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, Completion, ToolCall, ToolResult
from app.domain.errors import ModelUnavailable
from app.domain.run import EventType
from app.domain.trajectory import request_digest
from workflows.agents.ports import ChatModel, Tool

CREATE_TABLE = "CREATE TABLE IF NOT EXISTS answers (asked TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"
KEEP_ANSWER = "INSERT OR REPLACE INTO answers VALUES (?, ?)"
FIND_ANSWER = "SELECT answer FROM answers WHERE asked = ?"
LONGEST_PAUSE_S = 60.0
LONGEST_OUTAGE = timedelta(minutes=10)


class AnswerStore:
    """Stored answers by the digest of their request. Without a path they live as long as the object."""

    def __init__(self, path: Path | None = None) -> None:
        self._file = sqlite3.connect(path or ":memory:", isolation_level=None)
        self._file.execute(CREATE_TABLE)

    def get(self, asked: str) -> Completion | None:
        """Return the answer, if it is stored."""
        row = self._file.execute(FIND_ANSWER, (asked,)).fetchone()
        return Completion.of_any_version(row[0]) if row else None

    def put(self, asked: str, answer: Completion) -> None:
        """Store an answer."""
        self._file.execute(KEEP_ANSWER, (asked, answer.model_dump_json()))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class BatchRecord:
    """A `Record` for judges with at most `at_once` calls under way. `saved` counts the calls that were not needed.

    During an outage a call is tried `attempts` times; then it fails. The pause doubles from a second to a minute, and is at least
    as long as the server asks. Once nothing was answered for ten minutes, calls fail at their next try. `clock` returns seconds.
    `namesake` counts the models of the same name that other records ask over the same store, so that each keeps its own answers.
    """

    def __init__(
        self,
        kept: AnswerStore,
        at_once: int,
        attempts: int = 4,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        namesake: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kept = kept
        self._mark = f" {namesake}" if namesake else ""
        self._gate = asyncio.Semaphore(at_once)
        self._attempts = attempts
        self._pause = pause
        self._clock = clock
        self._away_since: float | None = None
        self._under_way: dict[str, asyncio.Task[Completion]] = {}
        self.usage = Usage()
        self.saved = 0

    async def ask(self, agent: str, step: str, model: ChatModel, request: ChatRequest) -> Completion:
        """Return the stored answer to exactly this request, the answer of the same call under way, or a new one.

        Raises:
            ModelRefused: the model refuses.
            ModelUnavailable: it is away for too long.
        """
        asked = request_digest(request, model.name) + self._mark
        if (answer := self._kept.get(asked)) is not None:
            self.saved += 1
            return answer
        call = self._under_way.get(asked)
        if call is None:
            call = self._under_way[asked] = asyncio.create_task(self._complete(asked, model, request))
            call.add_done_callback(lambda _: self._under_way.pop(asked))
        else:
            self.saved += 1
        return await asyncio.shield(call)  # a caller that is cancelled must not cancel the call for the others

    async def use(self, agent: str, tool: Tool, call: ToolCall) -> ToolResult:
        """Refuse, because judges use no tools."""
        raise NotImplementedError("a judge has no tools")

    async def tell(self, event: EventType, agent: str, *payloads: Mapping[str, Any]) -> None:
        """Do nothing, because nobody watches."""

    async def _complete(self, asked: str, model: ChatModel, request: ChatRequest) -> Completion:
        async with self._gate:
            answer = await self._complete_patiently(model, request)
        self.usage += answer.usage
        self._kept.put(asked, answer)
        return answer

    async def _complete_patiently(self, model: ChatModel, request: ChatRequest) -> Completion:
        tried = 0
        while True:
            try:
                answer = await model.complete(request)
            except ModelUnavailable as away:
                tried += 1
                if tried == self._attempts or self._is_long_away():
                    raise ModelUnavailable(f"the model stayed away: {away}") from away
                wished = away.retry_after.total_seconds() if away.retry_after else 0.0
                await self._pause(max(wished, min(2.0 ** (tried - 1), LONGEST_PAUSE_S)))
            else:
                self._away_since = None
                return answer

    def _is_long_away(self) -> bool:
        """Say whether the outage is long. Each call of a batch by itself would wait it out again."""
        now = self._clock()
        if self._away_since is None:
            self._away_since = now
        return now - self._away_since >= LONGEST_OUTAGE.total_seconds()
