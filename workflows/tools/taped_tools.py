"""Tools on tape: the results of a run's tools are recorded, and played back without a call to anything outside."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from app.domain.chat import ToolCall, ToolResult
from app.domain.errors import ToolError, ToolUnavailable
from app.domain.trajectory import Turn
from retrieval.tape import Tape
from workflows.agents.ports import Tool
from workflows.tools.wrapped import WrappedTool


class CallNotRecorded(Exception):
    """A replay made a call that was never recorded. It is no `ToolError`: an agent must not take it for a result."""


class TapeMode(StrEnum):
    """The treatment of a call that is not on the tape: make and record it, only make it, or raise an error."""

    RECORD = "record"
    FALL_THROUGH = "fall_through"
    STRICT = "strict"


class TapedTool(WrappedTool):
    """A tool whose calls a tape answers."""

    def __init__(self, tool: Tool, tape: Tape, mode: TapeMode) -> None:
        super().__init__(tool)
        self._tape = tape
        self._mode = mode

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the recorded result of the call.

        Raises:
            ToolError: the call failed when it was recorded, or fails now.
            CallNotRecorded: the call was not recorded, and the mode is strict.
        """
        call = ToolCall(name=self.name, arguments=dict(arguments))
        played = self._tape.play(call)
        if played is None:
            return await self._make_call(call)
        if played.error:
            raise ToolError(played.error)
        return played

    async def _make_call(self, call: ToolCall) -> ToolResult:
        if self._mode is TapeMode.STRICT:
            raise CallNotRecorded(f"{call.name}({call.arguments}) was not recorded")
        try:
            result = await self._tool.call(call.arguments)
        except ToolUnavailable:
            raise  # an outage is no result of this call
        except ToolError as error:
            self._record_call(call, ToolResult(error=str(error)))
            raise
        self._record_call(call, result)
        return result

    def _record_call(self, call: ToolCall, result: ToolResult) -> None:
        if self._mode is TapeMode.RECORD:
            self._tape.record(call, result)


def tape_tools(tools: Mapping[str, Tool], tape: Tape, mode: TapeMode) -> dict[str, Tool]:
    """Return the tools with their calls answered by a tape."""
    return {name: TapedTool(tool, tape, mode) for name, tool in tools.items()}


def tape_of(turns: Iterable[Turn]) -> Tape:
    """Return a tape made from the tool turns of a run's trajectory."""
    tape = Tape()
    for turn in turns:
        if turn.call is not None and turn.result is not None:
            tape.record(turn.call, turn.result)
    return tape
