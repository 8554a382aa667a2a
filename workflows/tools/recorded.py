"""Tools on tape: what a run's tools brought is recorded, and played back without touching anything outside."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from app.domain.chat import ToolCall, ToolResult
from app.domain.errors import ToolError, ToolUnavailable
from app.domain.trajectory import Turn
from retrieval.tape import Tape
from workflows.agents.ports import Tool
from workflows.tools.wrapped import Wrapped


class NotOnTape(Exception):
    """A replay met a call that was never recorded. It is no `ToolError`: an agent must not take it for a result."""


class Mode(StrEnum):
    """What happens to a call that is not on the tape: it is made and recorded, made, or an error."""

    RECORD = "record"
    FALL_THROUGH = "fall_through"
    STRICT = "strict"


class OnTape(Wrapped):
    """A tool whose calls are answered by a tape."""

    def __init__(self, tool: Tool, tape: Tape, mode: Mode) -> None:
        super().__init__(tool)
        self._tape = tape
        self._mode = mode

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """What the call brought when it was recorded.

        Raises:
            ToolError: it failed when it was recorded, or fails now.
            NotOnTape: it was not recorded, and the mode is strict.
        """
        call = ToolCall(name=self.name, arguments=dict(arguments))
        played = self._tape.play(call)
        if played is None:
            return await self._made(call)
        if played.error:
            raise ToolError(played.error)
        return played

    async def _made(self, call: ToolCall) -> ToolResult:
        if self._mode is Mode.STRICT:
            raise NotOnTape(f"{call.name}({call.arguments}) was not recorded")
        try:
            result = await self._tool.call(call.arguments)
        except ToolUnavailable:
            raise  # it says nothing about this call
        except ToolError as error:
            self._keep(call, ToolResult(error=str(error)))
            raise
        self._keep(call, result)
        return result

    def _keep(self, call: ToolCall, result: ToolResult) -> None:
        if self._mode is Mode.RECORD:
            self._tape.record(call, result)


class Silent:
    """Stands for a tool that is not there: a name to be played back by."""

    parameters: Mapping[str, Any] = {}
    description = ""

    def __init__(self, name: str) -> None:
        self.name = name

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Never.

        Raises:
            NotOnTape: always.
        """
        raise NotOnTape(f"{self.name}({dict(arguments)}) was not recorded, and no tool is there")


def on_tape(tools: Mapping[str, Tool], tape: Tape, mode: Mode) -> dict[str, Tool]:
    """The tools, answered by a tape."""
    return {name: OnTape(tool, tape, mode) for name, tool in tools.items()}


def played_back(names: Iterable[str], tape: Tape) -> dict[str, Tool]:
    """Tools of these names that know nothing but the tape."""
    return on_tape({name: Silent(name) for name in names}, tape, Mode.STRICT)


def tape_of(turns: Iterable[Turn]) -> Tape:
    """The tape of a run that was recorded otherwise: of the tool turns of its trajectory."""
    tape = Tape()
    for turn in turns:
        if turn.call is not None and turn.result is not None:
            tape.record(turn.call, turn.result)
    return tape
