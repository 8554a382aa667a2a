"""The run's tool memory: no two agents make the same call twice (MindDR section 3.1, tool-call memory)."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from app.domain.chat import ToolCall, ToolResult
from app.domain.tool_key import call_key_of
from workflows.agents.ports import Tool
from workflows.tools.wrapped import WrappedTool


class ToolStore(Protocol):
    """A store of results for the length of a run. In the durable worker it is in PostgreSQL."""

    async def load(self, key: str) -> ToolResult | None:
        """Return the stored result of this call, if any."""
        ...

    async def save(self, key: str, result: ToolResult) -> ToolResult:
        """Store a result and return it; if another worker was first, return that worker's result."""
        ...


class DictToolStore:
    """A store in memory."""

    def __init__(self) -> None:
        self._results: dict[str, ToolResult] = {}

    def remember(self, calls: Iterable[tuple[ToolCall, ToolResult]]) -> None:
        """Add the results of an earlier process."""
        for call, result in calls:
            self._results.setdefault(call_key_of(call.name, call.arguments), result)

    async def load(self, key: str) -> ToolResult | None:
        """Return the stored result of this call, if any."""
        return self._results.get(key)

    async def save(self, key: str, result: ToolResult) -> ToolResult:
        """Store the first result of a call and return it."""
        return self._results.setdefault(key, result)


class ToolMemory:
    """Answers a call from the store, from the same call in flight, or by making it. A failed call is not stored."""

    def __init__(self, store: ToolStore) -> None:
        self._store = store
        self._in_flight: dict[str, asyncio.Task[ToolResult]] = {}

    async def use(self, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the result of this call.

        Raises:
            ToolError: the call failed; every caller that waited for it gets the error.
        """
        key = call_key_of(tool.name, arguments)
        task = self._in_flight.get(key)
        if task is None:
            task = asyncio.create_task(self._load_or_call(key, tool, arguments))
            self._in_flight[key] = task
            task.add_done_callback(lambda _: self._in_flight.pop(key, None))
        return await asyncio.shield(task)

    async def _load_or_call(self, key: str, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
        stored = await self._store.load(key)
        if stored is not None:
            return stored
        return await self._store.save(key, await tool.call(arguments))


class RememberedTool(WrappedTool):
    """A tool whose calls go through the run's memory."""

    def __init__(self, tool: Tool, memory: ToolMemory) -> None:
        super().__init__(tool)
        self._memory = memory

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Use the tool, or return its earlier answer.

        Raises:
            ToolError: the call failed.
        """
        return await self._memory.use(self._tool, arguments)
