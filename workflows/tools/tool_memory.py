"""The run's tool memory: no two agents make the same call twice (MindDR section 3.1, tool-call memory)."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from app.domain.chat import ToolCall, ToolResult
from app.domain.tool_key import call_key
from workflows.agents.ports import Tool
from workflows.tools.wrapped import Wrapped


class ToolStore(Protocol):
    """Where results are kept for the length of a run; Postgres backs it in the durable worker."""

    async def load(self, key: str) -> ToolResult | None:
        """The stored result of this call, if any."""
        ...

    async def save(self, key: str, call: ToolCall, result: ToolResult) -> ToolResult:
        """Keep a result; if another worker was first, its result stays and is returned."""
        ...


class DictStore:
    """A store in memory."""

    def __init__(self) -> None:
        self._results: dict[str, ToolResult] = {}

    def remember(self, calls: Iterable[tuple[ToolCall, ToolResult]]) -> None:
        """Begin with what an earlier process was answered."""
        for call, result in calls:
            self._results.setdefault(call_key(call.name, call.arguments), result)

    async def load(self, key: str) -> ToolResult | None:
        """The stored result of this call, if any."""
        return self._results.get(key)

    async def save(self, key: str, call: ToolCall, result: ToolResult) -> ToolResult:
        """Keep the first result."""
        return self._results.setdefault(key, result)


class ToolMemory:
    """Answers a call from the store, from the same call in flight, or by making it. A call that failed is not kept."""

    def __init__(self, store: ToolStore) -> None:
        self._store = store
        self._in_flight: dict[str, asyncio.Task[ToolResult]] = {}

    async def use(self, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
        """The result of this call.

        Raises:
            ToolError: the call failed; every caller that waited for it gets the error.
        """
        key = call_key(tool.name, arguments)
        task = self._in_flight.get(key)
        if task is None:
            task = asyncio.create_task(self._make(key, tool, arguments))
            self._in_flight[key] = task
            task.add_done_callback(lambda _: self._in_flight.pop(key, None))
        return await asyncio.shield(task)

    async def _make(self, key: str, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
        stored = await self._store.load(key)
        if stored is not None:
            return stored
        call = ToolCall(name=tool.name, arguments=dict(arguments))
        return await self._store.save(key, call, await tool.call(arguments))


class Remembered(Wrapped):
    """A tool whose calls go through the run's memory."""

    def __init__(self, tool: Tool, memory: ToolMemory) -> None:
        super().__init__(tool)
        self._memory = memory

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Use the tool, or what it answered before.

        Raises:
            ToolError: the call failed.
        """
        return await self._memory.use(self._tool, arguments)
